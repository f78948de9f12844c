/** Words of their own that broadcasts and steps have: templates that nothing else names. */
import type { Templates } from '../mail/templates/service.ts';
import type { Tx } from '../platform/database/database.ts';

interface Naming {
  /** The templates that those of all projects name. */
  listTemplates(read: Tx): { project_id: number; template: string | null }[];
}

/** Deletes words whose broadcast is gone, or that no step has any more: a day later, as they may be on their way to one. */
export function sweepWords(
  templates: Pick<Templates, 'sweepOwn'>,
  campaigns: readonly Naming[],
): Promise<void> {
  return templates.sweepOwn((tx) => {
    const named = campaigns.flatMap((each) => each.listTemplates(tx));
    const all = new Set(named.map(({ project_id, template }) => `${project_id}/${template}`));
    return (project_id, slug) => all.has(`${project_id}/${slug}`);
  });
}
