/** What is said of things: their counts and sizes in a sentence, their paths in a command, and what people call them. */ import { conflict } from '../../errors.ts';
import { isUlid } from '../host/ids.ts';
/** A size for people: `1.5 MiB`. */
export function formatBytes(bytes: number): string {
  if (bytes < 1024) return `${bytes} B`;
  const units = ['KiB', 'MiB', 'GiB', 'TiB'];
  const power = Math.min(Math.floor(Math.log2(bytes) / 10), units.length);
  return `${(bytes / 1024 ** power).toFixed(1)} ${units[power - 1] ?? ''}`;
}

/** `1 origin`, `3 origins`: what goes along is told in counts. */
export function counted(count: number, one: string, many = `${one}s`): string {
  return `${count} ${count === 1 ? one : many}`;
}

/** As one word of a POSIX shell, quoted where it must be: a path with a space would name two places. */
export function shellWord(text: string): string {
  return /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}

/**
 * The name whatever its case, in any script, and however its accents are composed: macOS takes letters and
 * accents apart. Two that a reader would call the same become one; an accent counts.
 */
export function soughtName(name: string): string {
  return (
    name
      .normalize('NFC')
      // Some letters have one case alone: `ß` is the small form of `SS`, and `ſ` a form of `s`.
      .toUpperCase()
      .toLowerCase()
      .normalize('NFC')
      // A sigma at the end of a word has a form of its own; a Turkish capital with a dot leaves that behind.
      .replace(/ς/g, 'σ')
      .replace(/i\u0307/g, 'i')
  );
}

/** One that was found. */
export interface Named {
  /** What the verbs take it by. */
  key: string;
  id: string;
  slug?: string;
  project_id: number;
  /** Archived, finished, sent or cancelled: meant only where no other fits. */
  is_over: boolean;
}

/** How one kind of thing is found. */
export interface Naming {
  /** `list` */
  what: string;
  byId(id: string): Named | null;
  /** Those of a project that have this slug or this name. */
  called(project_id: number, name: string): readonly Named[];
}

/**
 * The key of what a field of something in a project names. An unknown name stays as it is, for the field's
 * rules to refuse. Throws AppError `conflict` where several have the name.
 */
export function keyOrAsGiven<R extends null | undefined>(
  naming: Naming,
  project: { id: number },
  ref: string | R,
): string | R {
  return ref ? (findNamed(naming, project.id, ref)?.key ?? ref) : ref;
}

/** What a name means in a project, or null. Throws AppError `conflict` where several have the name. */
export function findNamed(naming: Naming, project_id: number, ref: string): Named | null {
  const by_id = isUlid(ref) ? naming.byId(ref.toUpperCase()) : null;
  if (by_id?.project_id === project_id) return by_id;
  const called = naming.called(project_id, ref);
  const tiers = [false, true].flatMap((is_over) => {
    const alike = called.filter((each) => each.is_over === is_over);
    return [alike.filter(({ slug }) => slug === ref), alike];
  });
  const [found, ...others] = tiers.find((tier) => tier.length > 0) ?? [];
  if (!found || others.length === 0) return found ?? null;
  const ids = [found, ...others].map(({ id }) => id).join(', ');
  throw conflict(`Several ${naming.what}s are called so: ${ids}. Name one by its id.`);
}

/** A naming by rows of a table, of which `tell` says what counts. */
export function createNaming<R extends { project_id: number }>(
  what: string,
  finds: {
    byId(id: string): R | null | undefined;
    called(project_id: number, name: string): readonly R[];
  },
  tell: (row: R) => Omit<Named, 'project_id'>,
): Naming {
  const named = (row: R): Named => ({ ...tell(row), project_id: row.project_id });
  return {
    what,
    byId(id) {
      const row = finds.byId(id);
      return row ? named(row) : null;
    },
    called: (project_id, name) => finds.called(project_id, name).map(named),
  };
}

/** Whether a project has another of this name that is not over, now that one more was made. */
export function isSecond(naming: Naming, project_id: number, name: string): boolean {
  return naming.called(project_id, name).filter(({ is_over }) => !is_over).length > 1;
}
