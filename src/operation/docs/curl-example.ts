/** An operation as a line of curl that can be pasted, once its key stands in the environment. */
import { isPlainObject } from '../../platform/http/schema.ts';
import { type Address, membersOf, textOf } from './reference.ts';
import type { Shapes } from './schema-words.ts';

const CREDENTIALS: Readonly<Record<string, string>> = {
  api_key: 'X-API-Key: $KEY',
  access_token: 'Authorization: Bearer $TOKEN',
  session: 'Cookie: satchel=$SESSION',
};

export function exampleOf(shapes: Shapes, of: Address, server_url: string): string {
  const { method, scheme, operation } = of;
  const url = `${server_url.replace(/\/$/, '')}${filled(shapes, of)}`;
  const parts = [
    ...(scheme === null ? [] : [`-H "${CREDENTIALS[scheme] ?? ''}"`]),
    ...(scheme === 'session' && method !== 'GET' ? ["-H 'X-Satchel-Console: 1'"] : []),
    ...contentOf(shapes, operation.requestBody),
  ];
  const verb = { GET: '', HEAD: ' -I' }[method] ?? ` -X ${method}`;
  return [`curl${verb} ${/[?&{]/.test(url) ? `'${url}'` : url}`, ...parts].join(' \\\n  ');
}

/** The path with the examples of its parameters, and what its query must have. */
function filled(shapes: Shapes, { path, operation }: Address): string {
  const parameters = (Array.isArray(operation.parameters) ? operation.parameters : []).map((each) =>
    shapes.resolve(each),
  );
  const query = new URLSearchParams();
  let at = path;
  for (const { in: place, name, example, required, schema } of parameters) {
    if (place === 'path' && typeof example === 'string') at = at.replace(`{${textOf(name)}}`, example);
    if (place === 'query' && required === true)
      query.set(textOf(name), String(isPlainObject(schema) ? schema.example : ''));
  }
  return query.size > 0 ? `${at}?${query}` : at;
}

function contentOf(shapes: Shapes, body: unknown): string[] {
  const [media] = membersOf(isPlainObject(body) ? body.content : undefined);
  if (!media) return [];
  const [type, { schema, example }] = [media[0], shapes.resolve(media[1])];
  if (type === 'multipart/form-data') return formOf(shapes.resolve(schema));
  if (type !== 'application/json') return [`-H 'Content-Type: ${type}'`, '--data-binary @FILE'];
  if (example === undefined) return [];
  const json = JSON.stringify(example, null, 2).replaceAll("'", "'\\''");
  return ["-H 'Content-Type: application/json'", `-d '${json}'`];
}

/** The fields that the form must have, and one more, to show how it is written. */
function formOf({ properties, required }: Record<string, unknown>): string[] {
  const needed = Array.isArray(required) ? required : [];
  const [more] = membersOf(properties).filter(([name]) => !needed.includes(name));
  return membersOf(properties).flatMap(([name, field]) => {
    if (!isPlainObject(field) || !(needed.includes(name) || name === more?.[0])) return [];
    return [`-F ${name}=${field.format === 'binary' ? '@photo.jpg' : String(field.example)}`];
  });
}
