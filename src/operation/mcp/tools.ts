/** The tools of an assistant, in one table: each asks an endpoint of the management plane, or one that only tools have. */
import { type FieldErrors, invalid, refuseAll } from '../../errors.ts';
import type { ManagementCaller } from '../../platform/http/callers.ts';
import type { Route } from '../../platform/http/routes.ts';
import { isPlainObject, type TSchema } from '../../platform/http/schema.ts';
import { type Answer, answerOf, refusalFor, refusalOf } from './answers.ts';
import { type Asker, ask, type Question } from './asking.ts';

/** Decision: rows of a page, which is what an assistant reads at once. */
const ROWS = 20;

type Args = Readonly<Record<string, unknown>>;
type Value = string | number | boolean | null | Value[] | Json;
type Json = { [name: string]: Value };

/** What a tool takes, as JSON Schema has it. */
export interface Input {
  readonly [x: string]: unknown;
  type: 'object';
  properties: Record<string, Json>;
  required: string[];
  additionalProperties: false;
}

export interface Tool {
  name: string;
  about: string;
  writes: boolean;
  /** What its caller must hold. */
  needs: readonly string[];
  input: Input;
  /** Its answer is our own text, and not cut. */
  is_whole: boolean;
  /** The endpoint that these arguments mean, and what they are for it. */
  turn(args: Args): { route: Route; args: Args };
  shown(data: unknown): unknown;
}

/** What an argument is called, where the path's parameter has another name. */
const ARGUMENTS: Readonly<Record<string, string>> = { apiKey: 'key' };
const P = '/projects/:project';
const KEY_WHY = `POST ${P}/api-keys/:apiKey/why`;

/** Every tool, to look first. `routes` are all endpoints, and those that only tools have. */
export function createTools(routes: readonly Route[]): Tool[] {
  const at = (line: string): Route => {
    const found = routes.find(
      ({ plane, method, path }) => plane === 'management' && `${method} ${path}` === line,
    );
    if (!found) throw new Error(`no endpoint is ${line}`);
    return found;
  };
  const tool = (name: string, line: string, about: string, more: Partial<Tool> = {}): Tool => {
    const route = at(line);
    return {
      name,
      about,
      writes: route.method !== 'GET' && route.docs.only_reads !== true,
      needs: route.needs ?? [],
      input: inputOf(route),
      is_whole: false,
      turn: (args) => ({ route, args }),
      shown: (data) => data,
      ...more,
    };
  };
  const key_input = inputOf(at(KEY_WHY));
  delete key_input.properties.cert_fingerprint;
  return [
    tool('find', 'GET /search', 'Find anything by a part of its name, address or subject, or by its id.', {
      shown: withoutHookPaths,
    }),
    tool('projects', 'GET /projects', 'The projects there are.'),
    tool('overview', 'GET /overview', 'The numbers of all projects, and what is to be done.'),
    tool('emails', `GET ${P}/emails`, 'The email log of a project, newest first.'),
    tool('email_story', `GET ${P}/emails/:id/story`, 'What happened to an email, and what comes next.'),
    tool('contacts', `GET ${P}/email-lists/:list/contacts`, 'The contacts of a list, newest first.'),
    tool('contact_story', `POST ${P}/mcp/address`, 'Why an address gets marketing mail of a project or not.'),
    tool(
      'key_verdict',
      KEY_WHY,
      'Whether a request from somewhere would be accepted with an API key, and why.',
      {
        input: key_input,
      },
    ),
    tool('sequence_story', `GET ${P}/email-sequences/:sequence/why`, 'Why a sequence sends or does not.'),
    tool('broadcast', `GET ${P}/email-broadcasts/:broadcast`, 'A broadcast with its numbers.'),
    tool('handbook_search', 'GET /mcp/handbook', 'Search the handbook of Satchel.'),
    tool('handbook_read', 'GET /mcp/handbook/guide', 'A guide of the handbook.', { is_whole: true }),
    tool('findings', 'GET /findings', 'What is wrong with this Satchel, the worst first, and what mends it.'),
    tool(
      'send_test_mail',
      `POST ${P}/mcp/test-mail`,
      'Send a template, marked as a test, to the address of somebody who may sign in here and sees the project.',
    ),
    tool(
      'retry_email',
      `POST ${P}/emails/:id/retry`,
      'Queue an email again that failed, bounced or is unknown.',
    ),
    turning(at, 'pause'),
    turning(at, 'resume'),
    tool('create_template', `POST ${P}/email-templates`, 'Make a template of emails.'),
    tool(
      'create_broadcast',
      `POST ${P}/email-broadcasts`,
      'Make a broadcast as a draft, which sends nothing.',
    ),
  ];
}

const KINDS = ['sequence', 'broadcast', 'schedule'] as const;

/** Pauses or resumes what an id is of. A schedule has a field for that. */
function turning(at: (line: string) => Route, name: 'pause' | 'resume'): Tool {
  const routes = {
    sequence: at(`POST ${P}/email-sequences/:sequence/${name}`),
    broadcast: at(`POST ${P}/email-broadcasts/:broadcast/${name}`),
    schedule: at(`PATCH ${P}/email-schedules/:id`),
  };
  const about = { pause: 'Have one send nothing until it is resumed', resume: 'Have a paused one go on' }[
    name
  ];
  return {
    name,
    about: `${about}: a sequence, a broadcast or a schedule.`,
    writes: true,
    needs: [],
    input: {
      type: 'object',
      properties: { project: PROJECT, what: { type: 'string', enum: [...KINDS] }, id: REFERENCE },
      required: ['project', 'what', 'id'],
      additionalProperties: false,
    },
    is_whole: false,
    turn({ project, what, id }) {
      const kind = KINDS.find((each) => each === what);
      if (!kind) throw invalid({ what: [`must be one of ${KINDS.join(', ')}`] });
      const named = kind === 'schedule' ? { id, is_active: name === 'resume' } : { [kind]: id };
      return { route: routes[kind], args: { project, ...named } };
    },
    shown: (data) => {
      const { id, name, status, pause_reason, is_active, next_run_at } = isPlainObject(data) ? data : {};
      return { id, name, status, pause_reason, is_active, next_run_at };
    },
  };
}

/** The address of a webhook may hold its secret, as that of a chat room does: its site is told. */
function withoutHookPaths(data: unknown): unknown {
  if (!isPlainObject(data) || !Array.isArray(data.webhooks)) return data;
  return {
    ...data,
    webhooks: data.webhooks.map((hook) => ({ ...hook, url: new URL(String(hook.url)).origin })),
  };
}

/* --- What a tool takes ------------------------------------------------------------------------------------------- */

const REFERENCE = { type: ['string', 'integer'] };
const PROJECT = { ...REFERENCE, description: 'Its slug, ULID or numeric id.' };

function pathArguments({ path }: Route): { parameter: string; name: string }[] {
  return [...path.matchAll(/:(\w+)/g)].map(([, parameter = '']) => ({
    parameter,
    name: ARGUMENTS[parameter] ?? parameter,
  }));
}

/** What stands in the path, in the query and in the body, side by side. */
function inputOf(route: Route): Input {
  const { query, body } = route.docs;
  const names = pathArguments(route).map(({ name }) => name);
  const properties: Record<string, Json> = Object.fromEntries(
    names.map((name) => [name, name === 'project' ? PROJECT : REFERENCE]),
  );
  for (const schema of [query, body]) {
    for (const [name, each] of Object.entries<TSchema>(schema?.properties ?? {}))
      properties[name] = plain(each);
  }
  if (properties.per_page) {
    properties.per_page = { type: 'integer', minimum: 1, maximum: ROWS, default: ROWS };
  }
  return {
    type: 'object',
    properties,
    required: [...names, ...(query?.required ?? []), ...(body?.required ?? [])],
    additionalProperties: false,
  };
}

/** A schema as JSON has it, without the names by which the API's document knows its parts. */
function plain(schema: TSchema): Json {
  return JSON.parse(
    JSON.stringify(schema, (name, value) =>
      name === '$id' && typeof value === 'string' ? undefined : value,
    ),
  );
}

/* --- What one is asked ------------------------------------------------------------------------------------------- */

/** Those that a caller may use: another one is not there for them. */
export function toolsFor(tools: readonly Tool[], caller: ManagementCaller, may_write: boolean): Tool[] {
  const held: ReadonlySet<string> = caller.capabilities;
  return tools.filter(
    ({ writes, needs }) =>
      (!writes || (may_write && !caller.read_only)) && needs.every((each) => held.has(each)),
  );
}

/** Asks, and never throws. */
export async function useTool(tool: Tool, sent: Args, asker: Asker): Promise<Answer> {
  try {
    refuseUnknown(tool.input, sent);
    const { route, args } = tool.turn(sent);
    const { is_done, body } = await ask(questionOf(route, args), asker);
    if (!is_done) return refusalOf(body);
    const { data, meta, message: _, ...beside } = body;
    const told = isPlainObject(meta) ? { ...meta, ...beside } : undefined;
    return answerOf(tool.shown(data), told, tool.is_whole);
  } catch (error) {
    return refusalFor(error);
  }
}

/** An endpoint judges the rest itself. Throws AppError `invalid`. */
function refuseUnknown({ properties, required }: Input, sent: Args): void {
  const errors: FieldErrors = {};
  for (const name of Object.keys(sent)) {
    if (!Object.hasOwn(properties, name)) errors[name] = ['is no argument of this tool'];
  }
  for (const name of required) if (sent[name] === undefined) errors[name] = ['is required'];
  refuseAll(errors);
}

function questionOf(route: Route, args: Args): Question {
  const names = pathArguments(route);
  const params = names.map(({ parameter, name }) => {
    const value = args[name];
    if (typeof value !== 'string' && typeof value !== 'number') throw invalid({ [name]: ['must be a text'] });
    return [parameter, String(value)];
  });
  const rest = Object.entries(args).filter(([arg]) => !names.some(({ name }) => name === arg));
  const is_query = route.docs.body === undefined;
  return {
    route,
    params: Object.fromEntries(params),
    query: is_query ? queryOf(rest, route.docs.query) : new URLSearchParams(),
    body: is_query ? null : Object.fromEntries(rest),
  };
}

/** As a query says it: members of an object by dots, and the items of a list with commas between. */
function queryOf(args: readonly [string, unknown][], schema: TSchema | undefined): URLSearchParams {
  const query = new URLSearchParams();
  if (schema?.properties?.per_page) query.set('per_page', String(ROWS));
  for (const [name, value] of args) {
    if (name === 'per_page' && typeof value === 'number') query.set(name, String(Math.min(value, ROWS)));
    else if (isPlainObject(value)) {
      for (const [member, each] of Object.entries(value)) query.set(`${name}.${member}`, String(each));
    } else query.set(name, String(value));
  }
  return query;
}
