// A validator that is made when its first value arrives: a start, and a server that is only listed, do not pay for it.
import type { Validation, Validator } from './types.ts';

export class DeferredValidator implements Validator {
  check: Validator['check'];
  readonly #make: () => Validator | Promise<Validator>;
  #made: Validator | Promise<Validator> | undefined;

  constructor(make: () => Validator | Promise<Validator>) {
    this.#make = make;
  }

  validate(value: unknown): Validation | Promise<Validation> {
    const made = (this.#made ??= this.#make());
    return made instanceof Promise
      ? made.then((validator) => this.#keep(validator).validate(value))
      : this.#keep(made).validate(value);
  }

  #keep(validator: Validator): Validator {
    this.#made = validator;
    this.check = validator.check;
    return validator;
  }
}
