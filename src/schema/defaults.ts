// Fills in the defaults of a flat form, as a client does before it answers an elicitation.
import type { JsonSchema } from './types.ts';

/** A copy of `value` with the `default` of every top-level property that is missing. Nested defaults stay out. */
export function applyDefaults(schema: JsonSchema, value: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const filled: Record<string, unknown> = { ...value };
  const properties = schema['properties'];
  if (typeof properties !== 'object' || properties === null) return filled;
  for (const [name, property] of Object.entries(properties)) {
    if (typeof property !== 'object' || property === null || !Object.hasOwn(property, 'default')) continue;
    if (Object.hasOwn(filled, name) && filled[name] !== undefined) continue;
    // Defined, not assigned: assigning `__proto__` would set the prototype instead of a property.
    Object.defineProperty(filled, name, {
      value: structuredClone((property as { default: unknown }).default),
      enumerable: true,
      writable: true,
      configurable: true,
    });
  }
  return filled;
}
