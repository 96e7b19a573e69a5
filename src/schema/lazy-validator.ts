// A validator that is made when its first value arrives: a start, and a server that is only listed, do not pay for it.
import type { Validation, Validator } from './types.ts';

export class LazyValidator implements Validator {
  check: Validator['check'];
  readonly #make: () => Validator | Promise<Validator>;
  #made: Validator | Promise<Validator> | undefined;

  constructor(make: () => Validator | Promise<Validator>) {
    this.#make = make;
  }

  validate(value: unknown): Validation | Promise<Validation> {
    const made = (this.#made ??= this.#make());
    if (!(made instanceof Promise)) return this.#keep(made).validate(value);
    return made.then(
      (validator) => this.#keep(validator).validate(value),
      (error: unknown) => {
        // The next value tries again: the file may be readable then.
        if (this.#made === made) this.#made = undefined;
        throw error;
      },
    );
  }

  #keep(validator: Validator): Validator {
    this.#made = validator;
    this.check = validator.check;
    return validator;
  }
}
