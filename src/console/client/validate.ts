// Validates arguments that are being typed, with the same validators as calls.

import { compileSchema, type JsonSchema, SchemaError, type Validator } from '../../schema/index.ts';
import type { JsonObject, Validated } from '../api.ts';
import { ConsoleError } from '../http/console-error.ts';

/** The validator of a schema that a server sent. */
export function validatorOf(schema: JsonObject): Validator {
  try {
    return compileSchema(schema as JsonSchema, { direction: 'input', root: 'any', where: 'the schema' }).validator;
  } catch (error) {
    throw new ConsoleError(422, 'schema', `The schema cannot be used: ${(error as Error).message}`);
  }
}

export async function validateArguments(validator: Validator, argumentsText: string): Promise<Validated> {
  let value: unknown;
  try {
    value = JSON.parse(argumentsText);
  } catch (error) {
    return { issues: [{ path: '', message: `This is not JSON: ${(error as Error).message}` }] };
  }
  try {
    const validation = await validator.validate(value);
    if (validation.ok) return { issues: [] };
    return { issues: validation.issues.map(({ path, message }) => ({ path: pointer(path), message })) };
  } catch (error) {
    if (!(error instanceof SchemaError)) throw error;
    return { issues: [{ path: '', message: `The schema of the tool cannot be used: ${error.message}` }] };
  }
}

/** A JSON pointer (RFC 6901): `/filters/0/name`. */
function pointer(path: readonly (string | number)[]): string {
  return path.map((part) => `/${String(part).replaceAll('~', '~0').replaceAll('/', '~1')}`).join('');
}
