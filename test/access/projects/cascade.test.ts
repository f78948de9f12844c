/** What other capabilities hang on a project: their part in its deletion, and its tie to a database project. */

import { describe, expect, test } from 'bun:test';
import { sql } from 'drizzle-orm';
import { type DatabaseLinks, type ProjectCascade, Projects } from '../../../src/access/projects/service.ts';
import { loadConfig } from '../../../src/config.ts';
import type { ManagementCaller } from '../../../src/platform/http/callers.ts';
import { actor } from '../../support/helpers.ts';
import { makeDatabase, TestClock } from '../../support/temp.ts';

const caller: ManagementCaller = {
  kind: 'token',
  id: 1,
  name: 'token',
  all_projects: true,
  project_ids: [],
  capabilities: new Set(['can_manage_database']),
  read_only: false,
};

function makeProjects(parts: { cascades?: ProjectCascade[]; databaseLinks?: DatabaseLinks }) {
  const { database } = makeDatabase();
  const databaseLinks: DatabaseLinks = { visibleIdFor: () => null, link: () => {}, linkedId: () => null };
  const without = {
    databaseLinks,
    unknownDomains: () => [],
    fateOfMail: () => 'refused' as const,
    keysOf: () => [],
  };
  return {
    database,
    projects: new Projects({
      config: loadConfig({}),
      database,
      clock: new TestClock(),
      ...without,
      ...parts,
    }),
  };
}

describe('deletion', () => {
  test('adds up what every part counts, and hands on what its removal returned once all is committed', async () => {
    const seen: unknown[] = [];
    const cascades: ProjectCascade[] = [
      {
        count: () => ({ stored_objects: 2, links: 1 }),
        remove: (tx, project) => {
          seen.push(['remove', tx.all(sql`SELECT id FROM projects WHERE id = ${project.id}`).length]);
          return ['a.bin'];
        },
        afterCommit: (project, state) => {
          const left = database.read.all(sql`SELECT id FROM projects WHERE id = ${project.id}`).length;
          seen.push(['after', left, state]);
        },
      },
      { count: () => ({ links: 3, vault_files: 1 }) },
    ];
    const { projects, database } = makeProjects({ cascades });
    await projects.create(actor, { name: 'Shop' });
    expect(await projects.remove(actor, 'shop')).toEqual({
      deleted: true,
      cascade: {
        api_keys: 0,
        stored_objects: 2,
        vault_credentials: 0,
        vault_files: 1,
        links: 4,
        vault_reveals: 0,
        ...{
          email_lists: 0,
          email_contacts: 0,
          email_suppressions: 0,
          email_sequences: 0,
          email_broadcasts: 0,
        },
        ...{ email_imports: 0 },
      },
    });
    expect(seen).toEqual([
      ['remove', 1],
      ['after', 0, ['a.bin']],
    ]);
  });

  test('a part that fails before the commit keeps everything, the audit trail too', async () => {
    const after: string[] = [];
    const { projects, database } = makeProjects({
      cascades: [
        {
          count: () => ({}),
          remove: () => {
            throw new Error('no');
          },
          afterCommit: () => {
            after.push('ran');
          },
        },
      ],
    });
    await projects.create(actor, { name: 'Shop' });
    const refusal = await projects.remove(actor, 'shop').catch((error: Error) => error.message);
    expect(refusal).toBe('no');
    expect(projects.find('shop')?.name).toBe('Shop');
    const events = database.read.all<{ event: string }>(sql`SELECT event FROM audit_events`);
    expect(events).toEqual([{ event: 'project.created' }]);
    expect(after).toEqual([]);
  });

  test('files that cannot be removed after the commit do not undo it', async () => {
    const { projects } = makeProjects({
      cascades: [{ count: () => ({}), afterCommit: () => Promise.reject(new Error('disk')) }],
    });
    await projects.create(actor, { name: 'Shop' });
    expect((await projects.remove(actor, 'shop')).deleted).toBe(true);
    expect(projects.find('shop')).toBeNull();
  });
});

describe('the tie to a database project', () => {
  /** Knows one database project, 7, named `db`. */
  function makeLinked() {
    const links = new Map<number, number | null>();
    const databaseLinks: DatabaseLinks = {
      visibleIdFor: (_caller, ref) => (ref === '7' || ref === 'db' ? 7 : null),
      link: (_tx, project_id, id) => {
        links.set(project_id, id);
      },
      linkedId: (_read, project_id) => links.get(project_id) ?? null,
    };
    return makeProjects({ databaseLinks });
  }

  test.each([7, '7', 'db'])('is made by %p and shown as its numeric id, and null ends it', async (ref) => {
    const { projects } = makeLinked();
    const project = await projects.create(actor, { name: 'Shop' });
    expect(projects.present(project).database_project_id).toBeNull();
    await projects.update(actor, project, { database_project_id: ref }, caller);
    expect(projects.present(project).database_project_id).toBe(7);
    await projects.update(actor, project, { database_project_id: null }, caller);
    expect(projects.present(project).database_project_id).toBeNull();
  });

  test('is left alone by other changes', async () => {
    const { projects } = makeLinked();
    const project = await projects.create(actor, { name: 'Shop' });
    await projects.update(actor, project, { database_project_id: 7 }, caller);
    await projects.update(actor, project, { name: 'New' }, caller);
    expect(projects.present(project).database_project_id).toBe(7);
  });

  test('one that cannot be seen changes nothing at all', async () => {
    const { projects } = makeLinked();
    const project = await projects.create(actor, { name: 'Shop' });
    const update = projects.update(actor, project, { name: 'New', database_project_id: 8 }, caller);
    expect(await update.catch((error: Error) => error.message)).toContain('database_project_id');
    expect(projects.find('shop')?.name).toBe('Shop');
  });
});
