/**
 * The routes of a record: list, create, read, change and delete, each said by what differs. A noun names where
 * its records are and how one is found; what it has besides, it has as routes of its own.
 */
import type { FieldErrors } from '../../errors.ts';
import { isSecond, type Naming } from '../words/phrases.ts';
import { type Mirror, Reply, type Route, type SpecBase } from './routes.ts';
import { type Static, type TSchema, t } from './schema.ts';

/** What a noun says of one of the five; whatever stands here goes before what follows from the record. */
type Said<C, N, Q extends TSchema, B extends TSchema, R> = Omit<
  SpecBase<C, Q, B, R>,
  'method' | 'path' | 'tag'
> & { needs?: readonly N[]; mirror?: Mirror };

/** `managementRoute`, `projectRoute`, `bothPlanes` and what districts make of them; `C` is who calls. */
type Maker<C, N> = <Q extends TSchema, B extends TSchema, R>(
  spec: SpecBase<C, Q, B, R> & { needs: readonly N[]; mirror?: Mirror },
) => Route | readonly Route[];

/**
 * `R` is a record as it is loaded, `A` what `list` and `create` load. Of bodies `B` creates, `P` changes and `D` deletes; `Q`
 * is the query of `list`.
 */
interface RecordSpec<C, N, A, R, Q extends TSchema, B extends TSchema, P extends TSchema, D extends TSchema> {
  /** Of one record: `/webhooks/:webhook`. */
  path: string;
  tag: string;
  /** What a caller needs, where a route says nothing else. */
  needs?: readonly N[];
  /** What is answered of a record. */
  shown: TSchema;
  load: NonNullable<SpecBase<C, Q, B, R>['load']>;
  /** Where changing and deleting ask for more than reading. */
  loadToChange?: NonNullable<SpecBase<C, Q, B, R>['load']>;
  /** As a route has it, of a new record (`current` null) and of a changed one. */
  errorsIn?(input: {
    caller: C;
    current: R | null;
    body: Partial<Static<B>> | Partial<Static<P>>;
  }): FieldErrors;
  /** As a route has it, of both. */
  together?: readonly (keyof Static<B> & keyof Static<P>)[];
  /** Its `load` and that of `create` find what the records are of, as a key's origins are. */
  list?: Said<C, N, Q, TSchema, A>;
  create?: Said<C, N, TSchema, B, A>;
  /** Without a handler of its own it answers what was loaded. */
  read?: Omit<Said<C, N, TSchema, TSchema, R>, 'handle'> & Partial<Said<C, N, TSchema, TSchema, R>>;
  change?: Said<C, N, TSchema, P, R>;
  remove?: Said<C, N, TSchema, D, R>;
}

/** Those of the five that are said, in this order. */
export function recordRoutes<
  C,
  N,
  A,
  R,
  Q extends TSchema,
  B extends TSchema,
  P extends TSchema,
  D extends TSchema,
>(route: Maker<C, N>, record: RecordSpec<C, N, A, R, Q, B, P, D>): Route[] {
  const { path, tag, needs = [], shown, load, loadToChange = load, errorsIn, together } = record;
  const { list, create, read, change, remove } = record;
  const all = { tag, needs, path: path.slice(0, path.lastIndexOf('/')) };
  const one = { tag, needs, path, response: shown };
  const both = together === undefined ? {} : { together };
  const routes = [
    list && route({ ...all, response: t.Array(shown), ...list, method: 'GET' }),
    create &&
      route<TSchema, B, A>({
        ...all,
        ...both,
        ...(errorsIn && { errorsIn: ({ caller, body }) => errorsIn({ caller, current: null, body }) }),
        response: shown,
        status: 201,
        ...create,
        method: 'POST',
      }),
    read && route({ ...one, load, handle: ({ resource }) => resource, ...read, method: 'GET' }),
    change &&
      route<TSchema, P, R>({
        ...one,
        ...both,
        ...(errorsIn && {
          errorsIn: ({ caller, body, resource }) => errorsIn({ caller, current: resource, body }),
        }),
        load: loadToChange,
        ...change,
        method: 'PATCH',
      }),
    remove && route({ ...one, load: loadToChange, ...remove, method: 'DELETE' }),
  ];
  return routes.flatMap((made) => made ?? []);
}

/** For who makes a second thing of a name at the shell, which is allowed, but seldom meant. */
export function secondOfName(what: string, name: string): string {
  return `satchel: warning: this project has another ${what} that is called ${name}; only their ids tell them apart`;
}

/** The answer to a POST that made something of a project; with a Warning header where it is the second of its name. */
export function madeReply(made: { name: string }, names: Naming, project: { id: number }): Reply {
  return warnedReply(made, names.what, isSecond(names, project.id, made.name));
}

/** As `madeReply`, for who has looked by themselves. */
export function warnedReply(made: unknown, what: string, is_second: boolean): Reply {
  const warning = `299 satchel "another active ${what} of this project has this name"`;
  return new Reply(201, made, is_second ? { Warning: warning } : {});
}
