/** Schemas as OpenAPI 3.1: named ones once among the components, with references from everywhere else. */
import { Kind } from '@sinclair/typebox';
import type { TSchema } from './schema.ts';

type Json = Record<string, unknown>;

/** Collects the components of one document while its operations are written. */
export class SchemaBook {
  readonly schemas: Json = {};

  /** The schema, or a reference to it where it has a name. */
  print(schema: TSchema): Json {
    const name = schema.$id;
    if (name === undefined) return this.#printWhole(schema);
    if (!Object.hasOwn(this.schemas, name)) {
      // Claimed before it is printed, as a schema may hold itself.
      this.schemas[name] = null;
      this.schemas[name] = this.#printWhole(schema);
    }
    return { $ref: `#/components/schemas/${name}` };
  }

  #printWhole(schema: TSchema): Json {
    const { $id, properties, patternProperties, items, anyOf, ...rest } = schema;
    if (schema[Kind] === 'Union') return { ...this.#printUnion(anyOf), ...rest };
    const printed: Json = { ...rest };
    if (properties) {
      printed.properties = Object.fromEntries(
        Object.entries<TSchema>(properties).map(([name, each]) => [name, this.print(each)]),
      );
    }
    if (items) printed.items = this.print(items);
    const [value] = Object.values<TSchema>(patternProperties ?? {});
    if (value) printed.additionalProperties = this.print(value);
    return printed;
  }

  /** "This or null" is one schema of two types where that can be said. */
  #printUnion(alternatives: readonly TSchema[]): Json {
    const [first, ...others] = alternatives
      .filter((each) => each[Kind] !== 'Null')
      .map((each) => this.print(each));
    const takes_null = alternatives.some((each) => each[Kind] === 'Null');
    if (takes_null && first && others.length === 0 && typeof first.type === 'string') {
      const words = Array.isArray(first.enum) ? { enum: [...first.enum, null] } : {};
      return { ...first, type: [first.type, 'null'], ...words };
    }
    return { anyOf: [first, ...others, ...(takes_null ? [{ type: 'null' }] : [])] };
  }
}
