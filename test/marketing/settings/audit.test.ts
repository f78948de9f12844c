/** What people and tools do with email marketing on the management plane stands on the audit trail; what keys do does not. */
import { expect, test } from 'bun:test';
import { sql } from 'drizzle-orm';
import { noNote } from '../../../src/platform/database/audit-trail.ts';
import { actor } from '../../support/helpers.ts';
import { startMarketingApp } from './setup.ts';

const idIn = ({ body }: { body: Record<string, unknown> }): string => String(Object(body.data ?? body).id);

test('each change names who made it, and what was refused or changes nothing leaves none', async () => {
  const { app, call, mirror, project } = await startMarketingApp();
  const { audit, projects, templates, sequence_life } = app.services;
  const owner = projects.require(project.slug);
  const trail = () =>
    audit
      .listNewest({ project: owner }, 50)
      .reverse()
      .filter(({ actor_name }) => actor_name === 'mirror')
      .map(({ event, target, metadata, changes }) => [event, target, { ...metadata, ...changes }]);
  await templates.create(
    owner.id,
    {
      ...{ name: 'hello', slug: 'hello', category: 'marketing', is_marketing: true, layout: 'marketing' },
      ...{ subject: 'Hello', body_text: 'Hello' },
    },
    noNote,
  );

  // A key does the same, and leaves nothing.
  await call('PATCH', '/email-marketing/settings', { enabled: true });
  await call('POST', '/email-lists', { name: 'Of a key' });
  expect(trail()).toEqual([]);

  await mirror('PATCH', '/email-marketing/settings', { from_name: 'Shop' });
  const list = idIn(await mirror('POST', '/email-lists', { name: 'News', default_consent_basis: 'consent' }));
  expect((await mirror('POST', '/email-lists', { name: '' })).status).toBe(422);
  // All is sent, as forms do; one field differs.
  await mirror('PATCH', `/email-lists/${list}`, { name: 'News', description: 'Weekly' });
  const contact = idIn(await mirror('POST', `/email-lists/${list}/contacts`, { email: 'ann@example.com' }));
  expect((await mirror('POST', `/email-lists/${list}/contacts`, { email: 'ann@example.com' })).status).toBe(
    200,
  );
  await mirror('PATCH', `/email-contacts/${contact}`, { first_name: 'Ann' });
  await mirror('POST', `/email-lists/${list}/contacts/bulk-tag`, { filter: {}, add: ['vip'] });
  await mirror('POST', `/email-lists/${list}/contacts/bulk-tag`, { contact_ids: [contact], remove: ['vip'] });
  const started = await mirror('POST', `/email-lists/${list}/imports`, {
    method: 'paste',
    text: 'bob@example.com',
  });
  const steps = [{ key: 'a', template: 'hello', is_final: true }];
  const draft = { name: 'Welcome', list, max_recipients: 10, steps };
  const sequence = idIn(await mirror('POST', '/email-sequences', draft));
  await mirror('PATCH', `/email-sequences/${sequence}`, { max_recipients: 20 });
  const enroll = () => mirror('POST', `/email-sequences/${sequence}/enroll`, { all: true });
  expect((await enroll()).status).toBe(409);
  await app.services.database.write((tx) => tx.run(sql`UPDATE sequences SET status = 'active'`));
  expect((await enroll()).body).toMatchObject({ data: { enrolled: 2 } });
  expect((await enroll()).body).toMatchObject({ data: { enrolled: 0, already: 2 } });
  const suppressed = await mirror('POST', '/email-suppressions', { email: 'eve@example.com' });
  expect((await mirror('POST', '/email-suppressions', { email: 'eve@example.com' })).status).toBe(200);
  await mirror('POST', `/email-contacts/${contact}/unsubscribe`);
  await sequence_life.finish(actor, owner, sequence);

  expect(trail()).toEqual([
    ['marketing_settings.changed', null, { from_name: { from: null, to: 'Shop' } }],
    ['list.created', `list:${list}`, { name: 'News' }],
    ['list.changed', `list:${list}`, { name: 'News', description: { from: null, to: 'Weekly' } }],
    ['contact.added', `contact:${contact}`, {}],
    ['contact.changed', `contact:${contact}`, { first_name: { personal: true } }],
    ['contacts.tagged', `list:${list}`, { name: 'News', add: ['vip'], remove: [] }],
    ['contacts.tagged', `list:${list}`, { name: 'News', add: [], remove: ['vip'] }],
    ['import.started', `import:${idIn(started)}`, { name: 'News', list, method: 'paste' }],
    ['sequence.created', `sequence:${sequence}`, { name: 'Welcome' }],
    ['sequence.changed', `sequence:${sequence}`, { name: 'Welcome', max_recipients: { from: 10, to: 20 } }],
    ['sequence.enrolled', `sequence:${sequence}`, { name: 'Welcome', whom: 'all' }],
    ['suppression.added', `suppression:${idIn(suppressed)}`, {}],
    ['contact.unsubscribed', `contact:${contact}`, {}],
  ]);
  // Nobody's address stands there.
  expect(JSON.stringify(audit.listNewest({ project: owner }, 50))).not.toContain('@example.com');
});
