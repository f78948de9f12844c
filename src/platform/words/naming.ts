/** What people call things of a project: by id, by slug or by exact name. */
import { conflict } from '../../errors.ts';
import { isUlid } from '../host/ids.ts';

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
