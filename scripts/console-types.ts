/**
 * Writes the console's types of what it calls off the service's own OpenAPI document, to
 * src/console/page/api.generated.ts: an endpoint that changes fails the console's type check.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createApp } from '../src/app/app.ts';
import { loadConfig } from '../src/config.ts';
import { systemClock } from '../src/platform/host/clock.ts';
import { openDataDirectory } from '../src/platform/host/data-directory.ts';
import { createLogger } from '../src/platform/host/logger.ts';

const OUT = join(import.meta.dir, '../src/console/page/api.generated.ts');
/** Where the console may call: the management plane, named without its prefix, and its own endpoints. */
const MANAGEMENT = '/api/public/v1';
const OWN = '/console/';

interface Schema {
  $ref?: string;
  type?: string | string[];
  enum?: unknown[];
  const?: unknown;
  anyOf?: Schema[];
  allOf?: Schema[];
  properties?: Record<string, Schema>;
  required?: string[];
  items?: Schema;
  additionalProperties?: boolean | Schema;
  format?: string;
}
type Content = Record<string, { schema: Schema }>;
interface Operation {
  summary: string;
  parameters: { $ref?: string; name?: string; in?: string; schema?: Schema }[];
  requestBody?: { content: Content };
  responses: Record<string, { content?: Content }>;
}
interface Document {
  paths: Record<string, Record<string, Operation>>;
  components: { schemas: Record<string, Schema> };
}

/** The document, from an app that serves nothing. */
async function readDocument(): Promise<Document> {
  const data_dir = await mkdtemp(join(tmpdir(), 'satchel-types-'));
  try {
    const config = loadConfig({ SATCHEL_DATA_DIR: data_dir });
    const clock = systemClock;
    const directory = await openDataDirectory(config, { clock });
    const logger = createLogger({ level: 'error', format: 'text', clock });
    const app = createApp(config, { ...directory, clock, logger });
    const response = await app.handle(new Request('http://localhost/docs/openapi.json'));
    // Our own document, of whose shape only what stands above is used.
    const document = (await response.json()) as Document;
    await directory.close();
    return document;
  } finally {
    await rm(data_dir, { recursive: true });
  }
}

function typeOf(schema: Schema): string {
  if (schema.$ref) return schema.$ref.replace('#/components/schemas/', '');
  if (schema.const !== undefined) return JSON.stringify(schema.const);
  if (schema.enum) return schema.enum.map((value) => JSON.stringify(value)).join(' | ');
  if (schema.anyOf) return schema.anyOf.map((each) => `(${typeOf(each)})`).join(' | ');
  if (schema.allOf) return schema.allOf.map((each) => `(${typeOf(each)})`).join(' & ');
  if (Array.isArray(schema.type))
    return schema.type.map((type) => `(${typeOf({ ...schema, type })})`).join(' | ');
  if (schema.type === 'integer') return 'number';
  if (schema.type === 'array') return `(${schema.items ? typeOf(schema.items) : 'unknown'})[]`;
  if (schema.type === 'object') return objectOf(schema);
  return schema.type ?? 'unknown';
}

function objectOf({ properties, required = [], additionalProperties }: Schema): string {
  if (properties) {
    const members = Object.entries(properties).map(
      ([name, each]) => `${JSON.stringify(name)}${required.includes(name) ? '' : '?'}: ${typeOf(each)};`,
    );
    return `{ ${members.join(' ')} }`;
  }
  return `Record<string, ${typeof additionalProperties === 'object' ? typeOf(additionalProperties) : 'unknown'}>`;
}

function endpointOf(operation: Operation): string {
  const parameters = (where: string): string =>
    operation.parameters
      .filter((each) => each.in === where)
      .map(({ name, schema }) =>
        where === 'path' ? `${name}: string | number;` : `${JSON.stringify(name)}?: ${typeOf(schema ?? {})};`,
      )
      .join(' ');
  const body = operation.requestBody?.content['application/json'];
  const success = Object.entries(operation.responses).find(([status]) => status.startsWith('2'));
  const answer = success?.[1].content?.['application/json'];
  const is_versioned = operation.parameters.some(({ $ref }) => $ref === '#/components/parameters/IfMatch');
  return `{ path: { ${parameters('path')} }; query: { ${parameters('query')} }; body: ${
    body ? typeOf(body.schema) : operation.requestBody ? 'FormData' : 'undefined'
  }; answer: ${answer ? typeOf(answer.schema) : 'unknown'}; is_versioned: ${is_versioned} }`;
}

/** The source of the types: a named schema is an interface of that name, an endpoint a member of Api. */
function print({ paths, components }: Document): string {
  const schemas = Object.entries(components.schemas).map(
    ([name, schema]) => `export type ${name} = ${typeOf(schema)};`,
  );
  const endpoints = Object.entries(paths).flatMap(([path, operations]) =>
    path.startsWith(`${MANAGEMENT}/`) || path.startsWith(OWN)
      ? Object.entries(operations).map(
          ([method, operation]) =>
            `  /** ${operation.summary} */\n  '${method.toUpperCase()} ${path.replace(MANAGEMENT, '')}': ${endpointOf(operation)};`,
        )
      : [],
  );
  const head = '// Written by scripts/console-types.ts from the OpenAPI document; not in git.';
  return `${head}\n${schemas.join('\n')}\nexport interface Api {\n${endpoints.join('\n')}\n}\n`;
}

/** Writes the types; leaves the file alone where nothing changed. */
export async function writeConsoleTypes(): Promise<void> {
  const text = print(await readDocument());
  const file = Bun.file(OUT);
  if (!(await file.exists()) || (await file.text()) !== text) await Bun.write(OUT, text);
}

if (import.meta.main) await writeConsoleTypes();
