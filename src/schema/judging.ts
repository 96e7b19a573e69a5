// The second door of this room: whoever goes through it has values of plain schemas judged at once. Without it what
// judges is loaded with the first value, so that a server can answer its first message without it.
import { eagerValidator } from './eager.ts';
import { JsonSchemaValidator } from './json-schema-validator.ts';

/** From now on plain schemas are judged without waiting. To be called where a module begins. */
export function loadEagerly(): void {
  eagerValidator.plain = JsonSchemaValidator;
}
