/** Verbs that destroy: without --yes each says in counts what goes along, and changes nothing. */
import { beforeAll, expect, test } from 'bun:test';
import { noNote } from '../../src/platform/database/audit-trail.ts';
import { requireVaultService } from '../../src/secrets/vault/registry.ts';
import { PATH, startScheduleApp, VALID } from '../mail/schedules/setup.ts';
import { run } from '../support/command.ts';
import { dumpRows } from '../support/deployment.ts';
import { actor, type TestApp } from '../support/helpers.ts';

let app: TestApp;
const ids: Record<string, string> = {};

beforeAll(async () => {
  const made = await startScheduleApp();
  app = made;
  const { projects, keys, origins, tokens, people, vault, templates } = app.services;
  const project = projects.require(String(made.project_id));
  await templates.create(
    project.id,
    {
      ...{ name: 'Report', slug: 'report', category: 'notification' },
      ...{ subject: 'Report', body_text: 'All is well.' },
    },
    noNote,
  );
  const schedule = await app.call('POST', PATH, {
    key: made.keys.full ?? '',
    body: { ...VALID, template: 'report', subject: null, body_text: null, body_html: null },
  });
  expect(schedule.status).toBe(201);
  const key = await keys.create(actor, project, { name: 'page', restricted: true, can_read: true });
  for (const value of ['a.example.com', 'b.example.com']) {
    const origin = { type: 'domain' as const, value, sha256_fingerprints: [], sha1_fingerprints: [] };
    ids.origin = String((await origins.add(actor, keys.require(String(key.id)), origin)).id);
    ids.global = String((await origins.addGlobal(actor, origin)).id);
  }
  await people.add(actor, null, { email: 'ann@example.com', all_projects: true });
  const { record } = await tokens.create(actor, {
    ...{ name: 'ci', all_projects: false, projects: [project.slug], capabilities: [], expires_in_days: 1 },
  });
  await vault.set(actor, project, requireVaultService('stripe'), { secret_key: 's', webhook_secret: 'w' });
  await vault.environments.add(actor, project, { name: 'staging' });
  const staging = vault.environments.at(project, 'staging', null);
  await vault.set(actor, staging, requireVaultService('stripe'), { secret_key: 's' });
  Object.assign(ids, {
    ...{ project: project.slug, key: String(key.id), token: String(record.id) },
    schedule: String(schedule.body.id),
  });
}, 60_000);

test.each([
  ['person remove ann@example.com', 'removes ann@example.com for good and ends 0 sessions'],
  ['token revoke TOKEN', 'ends the token ci .* it answers for 1 project and was never used'],
  ['key origin remove KEY ORIGIN', 'the origin https://b.example.com of the key page, which keeps 1 other'],
  ['origin remove GLOBAL', 'global origin https://b.example.com, which 1 restricted key may rely on'],
  ['vault delete stripe --project PROJECT', 'deletes 2 values and 0 files of stripe of the project one'],
  ['vault purge stripe --project PROJECT', 'forgets 4 versions of stripe of one .production. for good'],
  [
    'environment remove staging --project PROJECT',
    'removes the environment staging of one with 1 value and 0 files, and what they were before',
  ],
  ['key delete KEY', 'deletes the key page .* for good, and with it 1 origin'],
  [
    'template delete report --project PROJECT',
    'Report .report. for good; 1 schedule of the project would send nothing',
  ],
  ['schedule delete SCHEDULE', 'deletes the schedule .* it has \\d+ recipients? and would run next at 20'],
  ['project delete PROJECT', 'for good, and with it 4 api keys'],
])('satchel %s asks first, and does it with --yes', async (command, told) => {
  const args = command
    .split(' ')
    .map((word) => (/^[A-Z]+$/.test(word) ? (ids[word.toLowerCase()] ?? word) : word));
  const before = dumpRows(app.data_dir);
  const refused = await run(app.data_dir, ...args);
  expect([refused.exit, refused.stdout]).toEqual([1, '']);
  expect(refused.stderr).toMatch(new RegExp(told));
  expect(refused.stderr).toContain('Add --yes to do it.');
  expect(dumpRows(app.data_dir)).toEqual(before);
  expect(await run(app.data_dir, ...args, '--yes')).toMatchObject({ exit: 0, stderr: '' });
  expect(dumpRows(app.data_dir)).not.toEqual(before);
});
