// The smallest programs that make a system call by another interface than the machine's own: each would leave with
// status 42. Written as bytes, since a bare machine has no compiler.

/** An ELF file with one loaded segment that holds the whole file. */
function elf(bits: 32 | 64, machine: number, code: readonly number[]): Buffer {
  const wide = bits === 64;
  const [headerSize, programHeaderSize] = wide ? [64, 56] : [52, 32];
  const start = headerSize + programHeaderSize;
  const base = 0x10000;
  const bytes = Buffer.alloc(start + code.length);
  bytes.set([0x7f, 0x45, 0x4c, 0x46, wide ? 2 : 1, 1, 1]);
  bytes.writeUInt16LE(2, 16); // executable
  bytes.writeUInt16LE(machine, 18);
  bytes.writeUInt32LE(1, 20);
  const word = (value: number, at: number): void => {
    if (wide) bytes.writeBigUInt64LE(BigInt(value), at);
    else bytes.writeUInt32LE(value, at);
  };
  const words = (values: readonly number[], at: number): void => {
    for (const [index, value] of values.entries()) word(value, at + index * (wide ? 8 : 4));
  };
  word(base + start, 24); // entry
  word(headerSize, wide ? 32 : 28); // program headers
  if (!wide && machine === 40) bytes.writeUInt32LE(0x05000000, 36); // ARM EABI 5
  const sizes = wide ? 52 : 40;
  bytes.writeUInt16LE(headerSize, sizes);
  bytes.writeUInt16LE(programHeaderSize, sizes + 2);
  bytes.writeUInt16LE(1, sizes + 4);
  const at = headerSize;
  bytes.writeUInt32LE(1, at); // load
  if (wide) {
    bytes.writeUInt32LE(5, at + 4); // read, execute
    words([0, base, base, bytes.length, bytes.length, 0x1000], at + 8);
  } else {
    words([0, base, base, bytes.length, bytes.length, 5, 0x1000], at + 4);
  }
  bytes.set(code, start);
  return bytes;
}

const exit42Through80 = [0xb8, 1, 0, 0, 0, 0xbb, 42, 0, 0, 0, 0xcd, 0x80]; // mov eax,1; mov ebx,42; int 0x80
const exit42X32 = [0xb8, 60, 0, 0, 0x40, 0xbf, 42, 0, 0, 0, 0x0f, 0x05]; // mov eax,0x4000003c; mov edi,42; syscall
const exit42Arm = [0x2a, 0, 0xa0, 0xe3, 1, 0x70, 0xa0, 0xe3, 0, 0, 0, 0xef]; // mov r0,#42; mov r7,#1; svc 0

/** Programs to try on a machine, by Node's name of it. */
export function foreignPrograms(architecture: string): [name: string, bytes: Buffer][] {
  if (architecture === 'arm64') return [['32-bit ARM', elf(32, 40, exit42Arm)]];
  return [
    ['32-bit x86', elf(32, 3, exit42Through80)],
    ['32-bit gate from a 64-bit program', elf(64, 62, exit42Through80)],
    ['x32 numbers from a 64-bit program', elf(64, 62, exit42X32)],
  ];
}
