/**
 * Writes the console's types of what it calls off the service's own OpenAPI document, to
 * src/console/page/api.generated.ts: an endpoint that changes fails the console's type check. They are the types that the client
 * of `satchel client typescript` has.
 */
import { join } from 'node:path';
import { describeApi } from '../src/app/open-services.ts';
import {
  type ApiDocument,
  type Operation,
  queryOf,
  successOf,
  takesHeader,
} from '../src/operation/client/document.ts';
import { comment, declare, typeOf } from '../src/operation/client/types.ts';

const OUT = join(import.meta.dir, '../src/console/page/api.generated.ts');
/** Where the console may call: the management plane, named without its prefix, and its own endpoints. */
const MANAGEMENT = '/api/public/v1';
const OWN = '/console/';

function endpointOf(operation: Operation): string {
  const path = operation.parameters
    .filter((each) => each.in === 'path')
    .map(({ name }) => `${name}: string | number;`);
  const query = queryOf(operation);
  const { requestBody } = operation;
  const body = requestBody?.content['application/json'];
  const answer = successOf(operation);
  return `{ path: { ${path.join(' ')} }; query: ${query ? typeOf(query) : '{ }'}; body: ${
    body ? typeOf(body.schema) : requestBody ? 'FormData' : 'undefined'
  }; answer: ${answer?.type === 'application/json' ? typeOf(answer.schema) : 'unknown'}; is_versioned: ${takesHeader(operation, 'IfMatch')} }`;
}

/** The source of the types: a named schema is a type of that name, an endpoint a member of Api. */
function print({ paths, components }: ApiDocument): string {
  const schemas = Object.entries(components.schemas).map(([name, schema]) => declare(name, schema));
  const endpoints = Object.entries(paths).flatMap(([path, operations]) =>
    path.startsWith(`${MANAGEMENT}/`) || path.startsWith(OWN)
      ? Object.entries(operations).map(
          ([method, operation]) =>
            `${comment([operation.summary], '  ')}  '${method.toUpperCase()} ${path.replace(MANAGEMENT, '')}': ${endpointOf(operation)};`,
        )
      : [],
  );
  const head = '// Written by scripts/console-types.ts from the OpenAPI document; not in git.';
  return `${head}\n${schemas.join('\n')}\nexport interface Api {\n${endpoints.join('\n')}\n}\n`;
}

/** Writes the types; leaves the file alone where nothing changed. */
export async function writeConsoleTypes(): Promise<void> {
  const text = print(await describeApi());
  const file = Bun.file(OUT);
  if (!(await file.exists()) || (await file.text()) !== text) await Bun.write(OUT, text);
}

if (import.meta.main) await writeConsoleTypes();
