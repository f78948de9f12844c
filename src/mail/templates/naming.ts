/** How the shell finds templates: by id, slug or name. */
import { createNaming, type Naming } from '../../platform/cli/naming.ts';
import type { Database } from '../../platform/database/database.ts';
import { findAnyTemplate, listTemplatesCalled } from './store.ts';

export function templateNaming({ database }: { database: Database }): Naming {
  return createNaming(
    'template',
    {
      byId: (id) => findAnyTemplate(database.read, id),
      called: (project_id, name) => listTemplatesCalled(database.read, project_id, name),
    },
    ({ slug, public_id }) => ({ key: slug, slug, id: public_id, is_over: false }),
  );
}
