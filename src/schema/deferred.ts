// A validator that is made when its first value arrives: what a library judges costs nothing before that.
import type { Validation, Validator } from './types.ts';

export class DeferredValidator implements Validator {
  readonly check = undefined;
  readonly #make: () => Promise<Validator>;
  #made: Validator | undefined;
  #making: Promise<Validator> | undefined;

  constructor(make: () => Promise<Validator>) {
    this.#make = make;
  }

  validate(value: unknown): Validation | Promise<Validation> {
    return this.#made === undefined ? this.#first(value) : this.#made.validate(value);
  }

  async #first(value: unknown): Promise<Validation> {
    this.#making ??= this.#make();
    const made = await this.#making;
    this.#made = made;
    return made.validate(value);
  }
}
