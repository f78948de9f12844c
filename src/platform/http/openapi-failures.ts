/** Failures for the documentation: their shapes, which plane answers which, and an example of each. */
import { AppError, type AppErrorOptions, type ErrorKind } from '../../errors.ts';
import { failureBody } from './answers.ts';
import type { Plane } from './routes.ts';
import { named, nullable, t } from './schema.ts';

const field_errors = t.Record(t.String(), t.Array(t.String()), {
  description: 'Messages by field; `_` holds what concerns the request as a whole.',
});

const remedy = t.Object(
  {
    code: t.String({ description: 'What it is about: a noun in the singular, such as `mailbox`.' }),
    ref: nullable(
      t.String({ description: 'The name, address or id of the one that is meant. Null: none by itself.' }),
    ),
    command: nullable(t.String({ description: 'What does it in a shell. The message says it, too.' })),
  },
  { description: 'What mends it, where something is known that does.' },
);

export const dataFailure = named(
  'Failure',
  t.Object({
    success: t.Literal(false),
    message: t.String(),
    code: t.Optional(t.String()),
    errors: t.Optional(field_errors),
    remedy: t.Optional(remedy),
  }),
);

export const managementFailure = named(
  'ManagementFailure',
  t.Object({
    error: t.Object({
      code: t.String(),
      message: t.String(),
      details: t.Optional(t.Object({ errors: t.Optional(field_errors) }, { additionalProperties: true })),
      remedy: t.Optional(remedy),
    }),
  }),
);

interface DocumentedFailure {
  description: string;
  kind: ErrorKind;
  message: string;
  options?: AppErrorOptions;
}

const COMMON: Readonly<Record<string, DocumentedFailure>> = {
  404: {
    description: 'Not found, or not to be seen by the caller',
    kind: 'not_found',
    message: 'Not found.',
  },
  409: { description: 'In conflict with what is there', kind: 'conflict', message: 'It is in use.' },
  422: {
    description: 'Validation failed',
    kind: 'invalid',
    message: 'name: is required',
    options: { errors: { name: ['is required'] } },
  },
  429: {
    description: 'Rate or quota exceeded; see Retry-After',
    kind: 'rate_limited',
    message: 'The limit of a minute is used up.',
  },
  500: { description: 'Something went wrong on the server', kind: 'internal', message: '' },
  503: {
    description: 'Not possible at the moment; see Retry-After',
    kind: 'unavailable',
    message: 'The server cannot store anything at the moment.',
  },
};

/** What any route of a plane may answer besides its own statuses. */
export const FAILURES: Readonly<Record<Plane, Readonly<Record<string, DocumentedFailure>>>> = {
  data: {
    401: {
      description: 'Missing or invalid X-API-Key',
      kind: 'unauthenticated',
      message: 'Send your API key in the X-API-Key header.',
    },
    403: {
      description: 'Origin, app or permission refused',
      kind: 'forbidden',
      message: "This API key lacks the permission 'write'. An admin can give it on the key.",
    },
    ...COMMON,
  },
  management: {
    401: {
      description: 'Missing, malformed, unknown, revoked or expired token',
      kind: 'unauthenticated',
      message: 'Send your access token in the header: Authorization: Bearer <token>.',
      options: { code: 'MISSING_ACCESS_TOKEN' },
    },
    403: {
      description: 'The token lacks a capability',
      kind: 'forbidden',
      message: 'This access token lacks the capability can_read_vault.',
      options: { code: 'TOKEN_PERMISSION_DENIED', details: { required_scope: 'can_read_vault' } },
    },
    ...COMMON,
  },
  console: {
    401: {
      description: 'Not signed in, or not with this address and password',
      kind: 'unauthenticated',
      message: 'You are not signed in, or no longer.',
    },
    403: {
      description: 'Not a request of our own pages, or over plain http from another machine',
      kind: 'forbidden',
      message: 'Send the header X-Satchel-Console: 1.',
    },
    ...COMMON,
  },
  status: {},
  machine: {},
  page: {},
  foreign: {},
};

/** The body of a failure with this status, made as a real one is; undefined where none stands above. */
export function failureOf(plane: Plane, status: string): unknown {
  const failure = FAILURES[plane][status];
  if (!failure) return undefined;
  const { kind, message, options } = failure;
  return failureBody(plane === 'management' ? 'management' : 'core', new AppError(kind, message, options));
}
