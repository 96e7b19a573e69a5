// A small assembler for classic BPF, the language of seccomp filters: instructions as values, and their bytes
// (struct sock_filter, little-endian). What is allowed is defined in `seccomp.ts`.

/** One instruction: operation, how many to skip if true and if false, operand. */
export interface Instruction {
  readonly code: number;
  readonly ifTrue: number;
  readonly ifFalse: number;
  readonly operand: number;
}

export const operations = {
  loadWord: 0x20, // BPF_LD | BPF_W | BPF_ABS
  jumpIfEqual: 0x15, // BPF_JMP | BPF_JEQ | BPF_K
  jumpIfAtLeast: 0x35, // BPF_JMP | BPF_JGE | BPF_K
  jumpIfAnyBit: 0x45, // BPF_JMP | BPF_JSET | BPF_K
  and: 0x54, // BPF_ALU | BPF_AND | BPF_K
  return: 0x06, // BPF_RET | BPF_K
} as const;

/** What the kernel does with the call. */
export const filterActions = {
  allow: 0x7fff0000,
  killProcess: 0x80000000,
  /** The call does nothing and fails with this error number. */
  fail: (errno: number) => 0x00050000 | errno,
} as const;

/** Offsets in struct seccomp_data. */
export const callNumberOffset = 0;
export const architectureOffset = 4;

/**
 * Offset of the low half of an argument. For arguments that the kernel reads as `int`, only this half may be tested: the
 * kernel ignores the other one, so a test of all 64 bits could be bypassed by setting a bit there.
 */
export function argumentOffset(index: number): number {
  return 16 + 8 * index;
}

function plain(code: number, operand: number): Instruction {
  return { code, ifTrue: 0, ifFalse: 0, operand };
}

function jump(code: number, operand: number, ifTrue: number, ifFalse: number): Instruction {
  if (ifTrue > 255 || ifFalse > 255) throw new RangeError('A BPF jump spans at most 255 instructions');
  return { code, ifTrue, ifFalse, operand };
}

export const load = (offset: number) => plain(operations.loadWord, offset);
export const mask = (bits: number) => plain(operations.and, bits);
export const returnAction = (action: number) => plain(operations.return, action);

/** Runs `body` if the loaded word equals `value`; skips it otherwise. */
export function whenEqual(value: number, body: readonly Instruction[]): Instruction[] {
  return [jump(operations.jumpIfEqual, value, 0, body.length), ...body];
}

/** Runs `body` if the loaded word is `value` or above. */
export function whenAtLeast(value: number, body: readonly Instruction[]): Instruction[] {
  return [jump(operations.jumpIfAtLeast, value, 0, body.length), ...body];
}

/** Runs `body` if the loaded word has any of `bits`. */
export function whenAnyBit(bits: number, body: readonly Instruction[]): Instruction[] {
  return [jump(operations.jumpIfAnyBit, bits, 0, body.length), ...body];
}

/** Runs `body` unless the loaded word is one of `values`. */
export function unlessOneOf(values: readonly number[], body: readonly Instruction[]): Instruction[] {
  const tests = values.map((value, index) =>
    jump(operations.jumpIfEqual, value, values.length - 1 - index + body.length, 0),
  );
  return [...tests, ...body];
}

/** The bytes in the format that bubblewrap and the kernel read. */
export function assemble(program: readonly Instruction[]): Buffer {
  if (program.length > 4096) throw new RangeError('The kernel accepts at most 4096 instructions');
  const bytes = Buffer.alloc(program.length * 8);
  program.forEach(({ code, ifTrue, ifFalse, operand }, index) => {
    bytes.writeUInt16LE(code, index * 8);
    bytes.writeUInt8(ifTrue, index * 8 + 2);
    bytes.writeUInt8(ifFalse, index * 8 + 3);
    bytes.writeUInt32LE(operand >>> 0, index * 8 + 4);
  });
  return bytes;
}
