/** Who else may sign in to the sample, and what tools show: some scoped, some over. */
import { actor, type TestApp } from '../support/helpers.ts';

export interface PeopleSample {
  person: string;
  /** Path of a link that sets a password. */
  welcome: string;
}

/** `hostile`: what must be shown as the text it is. */
export async function addPeople(app: TestApp, hostile: string): Promise<PeopleSample> {
  const { people, tokens } = app.services;
  const bob = await people.add(actor, null, {
    ...{
      email: 'bob.with.a.rather.long.address@bakery.example.org',
      name: 'Bob Baker',
      projects: ['shop', 'bakery'],
    },
    ...{ can_read_vault: true, can_write_vault: true },
  });
  const cy = await people.add(actor, null, { email: 'cy@example.org', projects: ['shop'] });
  const eve = await people.add(actor, null, { email: 'eve@example.org', name: hostile, projects: ['shop'] });
  await people.change(actor, null, people.require(String(eve.id)), { is_active: false });
  const token = { all_projects: false, projects: ['shop'] };
  await tokens.create(actor, {
    ...token,
    name: 'deploy',
    capabilities: ['can_read_vault', 'can_reveal_vault'],
  });
  const old = await tokens.create(actor, { ...token, name: hostile, capabilities: [], expires_in_days: 1 });
  await tokens.revoke(actor, old.record.id);
  await tokens.create(actor, { ...token, name: 'yesterday', capabilities: [], expires_in_days: 1 });
  return { person: String(bob.id), welcome: new URL(cy.link).pathname.replace('/console', '') };
}
