/** What a health check found: the common form in which every noun reports to `satchel doctor`. */
import type { Database as Sqlite } from 'bun:sqlite';
import type { Stats } from 'node:fs';

/** `warning`: works, but somebody should look. `problem`: something is broken, or about to be. */
export type FindingStatus = 'ok' | 'warning' | 'problem';

/** What mends something by one request, so that a page has a button for it. */
export const ACT_KINDS = [
  'verify_domain',
  'resume_mailbox',
  'resume_sequence',
  'resume_broadcast',
  'enable_webhook',
  'retry_mail',
  'make_backup',
  'release',
  'drop',
] as const;

export interface Act {
  kind: (typeof ACT_KINDS)[number];
  /** The slug of the project that it is in; null where it is in none. */
  project: string | null;
  /** The name, address or id of the one that is meant; null where it is none by itself. */
  of: string | null;
}

export interface Finding {
  /** The same for the same thing, whatever its message says of it: the check, and what it is about. */
  id: string;
  /** What was looked at, such as `disk space`. */
  check: string;
  status: FindingStatus;
  message: string;
  /** The command that mends it, or null where nothing needs mending. */
  remedy: string | null;
  /** The same by requests, where some do it. */
  acts?: readonly Act[];
  /** Where a person at a page does it by hand. */
  about?: About | null;
}

/** What a finding is about, as in the `Remedy` of a failure: a noun in the singular, and which one. */
export interface About {
  code: string;
  ref: string | null;
}

/** Looks at one thing and changes nothing. What it throws becomes a problem of its own. */
export interface HealthCheck {
  check: string;
  run(): Finding[] | Promise<Finding[]>;
}

/** What the checks get that need neither master key nor services, and so always run. */
export interface CheckedDirectory {
  data_dir: string;
  /** Read-only, and perhaps of an older schema. */
  sqlite: Sqlite;
  is_served: boolean;
  now_ms: number;
}

const idOf = (...parts: string[]): string => parts.join(':').replaceAll(' ', '_');

export function ok(check: string, message: string, remedy: string | null = null): Finding {
  return { id: idOf(check), check, status: 'ok', message, remedy };
}

export function warning(check: string, message: string, remedy: string, acts: readonly Act[] = []): Finding {
  return { id: idOf(check), check, status: 'warning', message, remedy, acts };
}

export function problem(check: string, message: string, remedy: string, acts: readonly Act[] = []): Finding {
  return { id: idOf(check), check, status: 'problem', message, remedy, acts };
}

/** A finding with what it is about. */
export function about(code: string, ref: string | null, finding: Finding): Finding {
  return { ...aside(ref ?? code, finding), about: { code, ref } };
}

/** One of several things that a check finds, told apart by a word that stays the same. */
export function aside(what: string, finding: Finding): Finding {
  return { ...finding, id: idOf(finding.id, what) };
}

/** One that mends what is of no project, or what is in one. */
export function act(kind: Act['kind'], of: string | null = null, project: string | null = null): Act {
  return { kind, project, of };
}

/** Every noun with secrets has one of this name, and all that are fine are one finding. */
const SEALED = 'sealed values';

/** In place of a finding a noun, one for all whose sealed values decrypt, and one for all that could not be checked. */
export function joinSealed(findings: readonly Finding[]): Finding[] {
  const { sealed = [], others = [] } = Object.groupBy(findings, ({ check }) =>
    check === SEALED ? 'sealed' : 'others',
  );
  const lost = sealed.filter(({ status }) => status !== 'ok');
  const told = lost.length > 0 ? lost : sealed;
  return [...others, ...new Map(told.map((each) => [each.id, each])).values()];
}

/** A check of a noun's sealed values: it names those that do not decrypt. */
export function sealedCheck(
  listLost: () => { message: string; remedy: string; about?: About }[],
): HealthCheck {
  return {
    check: SEALED,
    run() {
      // The message says which one is lost, and nothing else.
      const lost = listLost().map(({ message, remedy, ...rest }) => ({
        ...aside(message, problem(SEALED, message, remedy)),
        ...rest,
      }));
      return lost.length > 0 ? lost : [ok(SEALED, 'Each decrypts.')];
    },
  };
}

/** Only the owner may do anything: a directory is 0700, a file 0600. */
export function isOpenToOthers(stat: Stats): boolean {
  return (stat.mode & 0o077) !== 0;
}
