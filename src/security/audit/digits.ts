// Numbers as text, for lines that have many of them: putting known pieces together is quicker than dividing by ten.

/** 000 to 999. */
export const threeDigits: readonly string[] = Array.from({ length: 1000 }, (_, number) => `${number}`.padStart(3, '0'));

/** Three decimals, none for a whole number. */
export function spellMs(durationMs: number): string {
  const us = Math.round(durationMs * 1000);
  const rest = us % 1000;
  const whole = (us - rest) / 1000;
  return rest === 0 ? `${whole}` : `${whole}.${threeDigits[rest]}`;
}

/** Spells numbers that follow each other. */
export class Counter {
  #thousands = -1;
  #text = '';

  spell(number: number): string {
    const rest = number % 1000;
    const thousands = (number - rest) / 1000;
    if (thousands === 0) return `${number}`;
    if (thousands !== this.#thousands) {
      this.#thousands = thousands;
      this.#text = `${thousands}`;
    }
    return this.#text + threeDigits[rest];
  }
}
