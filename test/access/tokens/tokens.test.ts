/** Access tokens: the five refusals, what a token may know of itself, what it reaches, and how its use is noted. */
import { beforeEach, describe, expect, spyOn, test } from 'bun:test';
import { sql } from 'drizzle-orm';
import { CAPABILITIES } from '../../../src/platform/http/callers.ts';
import { hashToken } from '../../../src/platform/secrets/token-format.ts';
import { actor } from '../../support/helpers.ts';
import { codeOf, dataOf, type Management, startManagement } from '../../support/management.ts';

const DAY_MS = 86_400_000;

let stage: Management;
beforeEach(async () => {
  stage = await startManagement();
});

const introspect = (headers: { Authorization?: string }) =>
  stage.app.call('GET', '/api/public/v1/token', { headers: { ...headers } });

async function make(input: { projects?: string[]; expires_in_days?: number } = {}) {
  return await stage.app.services.tokens.create(actor, {
    name: 'mine',
    all_projects: input.projects === undefined,
    projects: input.projects ?? [],
    capabilities: [],
    ...(input.expires_in_days === undefined ? {} : { expires_in_days: input.expires_in_days }),
  });
}

/** Lets the notes of last use, for which no request waits, reach the disk. */
async function settle(): Promise<void> {
  await stage.app.services.database.write(() => {});
}

describe('a request is refused with', () => {
  test('MISSING_ACCESS_TOKEN when it has none', async () => {
    for (const headers of [
      {},
      { Authorization: '' },
      { Authorization: 'Bearer' },
      { Authorization: 'Bearer ' },
      { Authorization: 'Basic dTpw' },
    ]) {
      const answer = await introspect(headers);
      expect({ status: answer.status, code: codeOf(answer) }).toEqual({
        status: 401,
        code: 'MISSING_ACCESS_TOKEN',
      });
    }
  });

  test('INVALID_ACCESS_TOKEN_FORMAT when it has another shape or a wrong checksum', async () => {
    const swapped = stage.all.slice(0, 10) + (stage.all[10] === 'a' ? 'b' : 'a') + stage.all.slice(11);
    const key = (await stage.app.services.keys.create(actor, stage.mine, { name: 'k' })).plaintext_key;
    for (const token of [
      'x',
      swapped,
      stage.all.slice(0, -1),
      `${stage.all} x`,
      key,
      stage.all.toUpperCase(),
    ]) {
      const answer = await introspect({ Authorization: `Bearer ${token}` });
      expect({ status: answer.status, code: codeOf(answer) }).toEqual({
        status: 401,
        code: 'INVALID_ACCESS_TOKEN_FORMAT',
      });
      expect(answer.text).not.toContain(token.slice(0, 20));
    }
  });

  test('INVALID_ACCESS_TOKEN when nobody knows it', async () => {
    const elsewhere = await startManagement();
    const answer = await introspect({ Authorization: `Bearer ${elsewhere.all}` });
    expect({ status: answer.status, code: codeOf(answer) }).toEqual({
      status: 401,
      code: 'INVALID_ACCESS_TOKEN',
    });
  });

  test('TOKEN_REVOKED from the moment it was revoked', async () => {
    const { token, record } = await make();
    expect((await introspect({ Authorization: `Bearer ${token}` })).status).toBe(200);
    await stage.app.services.tokens.revoke(actor, record.id);
    const answer = await introspect({ Authorization: `Bearer ${token}` });
    expect({ status: answer.status, code: codeOf(answer) }).toEqual({ status: 401, code: 'TOKEN_REVOKED' });
  });

  test('TOKEN_EXPIRED from its last moment on, and TOKEN_REVOKED if it was revoked as well', async () => {
    const { token, record } = await make({ expires_in_days: 1 });
    stage.app.clock.advance(DAY_MS - 1);
    expect((await introspect({ Authorization: `Bearer ${token}` })).status).toBe(200);
    stage.app.clock.advance(1);
    const expired = await introspect({ Authorization: `Bearer ${token}` });
    expect({ status: expired.status, code: codeOf(expired) }).toEqual({ status: 401, code: 'TOKEN_EXPIRED' });
    await stage.app.services.tokens.revoke(actor, record.id);
    expect(codeOf(await introspect({ Authorization: `Bearer ${token}` }))).toBe('TOKEN_REVOKED');
  });

  test('the scheme may be in any case', async () => {
    for (const scheme of ['bearer', 'BEARER', 'Bearer  ']) {
      expect((await introspect({ Authorization: `${scheme} ${stage.all}` })).status).toBe(200);
    }
  });
});

describe('introspection', () => {
  test('of a token for all projects has no projects at all', async () => {
    const data = dataOf(await introspect({ Authorization: `Bearer ${stage.all}` }));
    expect(data).toMatchObject({
      name: 'test token',
      token_prefix: stage.all.slice(0, 11),
      all_projects: true,
      expires_at: '2030-04-15T12:00:00.000Z',
    });
    for (const capability of CAPABILITIES) expect(data[capability]).toBe(false);
    expect('projects' in data).toBe(false);
  });

  test('of a scoped token names its projects, as they are called now', async () => {
    const { token } = await make({ projects: ['mine', String(stage.other.id), stage.mine.public_id] });
    await stage.app.services.projects.update(actor, stage.other, { name: 'Renamed', slug: 'renamed' });
    const data = dataOf(await introspect({ Authorization: `Bearer ${token}` }));
    expect(data.all_projects).toBe(false);
    expect(data.projects).toEqual([
      { id: stage.mine.id, public_id: stage.mine.public_id, name: 'Mine', slug: 'mine' },
      { id: stage.other.id, public_id: stage.other.public_id, name: 'Renamed', slug: 'renamed' },
    ]);
  });

  test.each([...CAPABILITIES])('%s is on when it was given, alone', async (capability) => {
    const token = await stage.makeToken({ capabilities: [capability] });
    const data = dataOf(await introspect({ Authorization: `Bearer ${token}` }));
    expect(CAPABILITIES.filter((each) => data[each])).toEqual([capability]);
  });
});

test('can_administer is shown only where it is, and goes with all projects alone', async () => {
  const shown = async (token: string) => dataOf(await introspect({ Authorization: `Bearer ${token}` }));
  expect(await shown(stage.all)).not.toHaveProperty('can_administer');
  expect(await shown(await stage.makeToken({ capabilities: ['can_administer'] }))).toMatchObject({
    can_administer: true,
    can_read_vault: false,
  });
  const before = stage.snapshot();
  const scoped = stage.makeToken({ projects: ['mine'], capabilities: ['can_administer'] });
  expect(await scoped.catch((error) => error.errors)).toEqual({
    can_administer: ['goes with all projects only'],
  });
  expect(stage.snapshot()).toBe(before);
});

describe('the last use', () => {
  const lastUsed = () =>
    stage.app.services.tokens.list().find((token) => stage.all.startsWith(token.token_prefix));

  test('is noted at most once a minute', async () => {
    expect(lastUsed()?.last_used_at).toBeNull();
    const seen: unknown[] = [];
    for (const step_ms of [0, 59_999, 1, 59_999, 1]) {
      stage.app.clock.advance(step_ms);
      await introspect({ Authorization: `Bearer ${stage.all}` });
      await settle();
      seen.push(lastUsed()?.last_used_at);
    }
    expect(seen).toEqual([
      '2030-01-15T12:00:00.000Z',
      '2030-01-15T12:00:00.000Z',
      '2030-01-15T12:01:00.000Z',
      '2030-01-15T12:01:00.000Z',
      '2030-01-15T12:02:00.000Z',
    ]);
  });

  test('is noted again after the clock was set back, and not with every request', async () => {
    await introspect({ Authorization: `Bearer ${stage.all}` });
    stage.app.clock.advance(-DAY_MS);
    for (let n = 0; n < 2; n += 1) {
      await introspect({ Authorization: `Bearer ${stage.all}` });
      await settle();
      expect(lastUsed()?.last_used_at).toBe('2030-01-14T12:00:00.000Z');
      stage.app.clock.advance(1);
    }
  });

  test('costs no write while it is noted already', async () => {
    const { database } = stage.app.services;
    await introspect({ Authorization: `Bearer ${stage.all}` });
    await settle();
    const writes = spyOn(database, 'write');
    await introspect({ Authorization: `Bearer ${stage.all}` });
    expect(writes).not.toHaveBeenCalled();
    writes.mockRestore();
  });

  test('does not change what a refused token shows', async () => {
    const { token, record } = await make();
    await stage.app.services.tokens.revoke(actor, record.id);
    await introspect({ Authorization: `Bearer ${token}` });
    await settle();
    const [row] = stage.app.services.tokens.list();
    expect(row).toMatchObject({ id: record.id, last_used_at: null });
  });
});

describe('making and revoking', () => {
  test('the secret is kept nowhere but as its hash', async () => {
    const { token } = await make();
    const { database, audit } = stage.app.services;
    const rows = JSON.stringify(database.read.all(sql`SELECT * FROM access_tokens`));
    expect(rows).toContain(hashToken(token));
    expect(rows).not.toContain(token);
    const events = JSON.stringify(audit.listNewest({}, 100));
    expect(events).toContain('token.created');
    expect(events).not.toContain(token);
    expect(events).not.toContain(hashToken(token));
  });

  test('it lives 90 days unless it is told otherwise', async () => {
    expect((await make()).record.expires_at).toBe('2030-04-15T12:00:00.000Z');
    expect((await make({ expires_in_days: 1 })).record.expires_at).toBe('2030-01-16T12:00:00.000Z');
  });

  test('it is for all projects or for some, and those must exist', async () => {
    const { tokens } = stage.app.services;
    const before = stage.snapshot();
    const wrong = [
      { all_projects: false, projects: [] },
      { all_projects: true, projects: ['mine'] },
      { all_projects: false, projects: ['mine', 'nowhere'] },
    ];
    for (const scope of wrong) {
      const made = tokens.create(actor, { name: 't', capabilities: [], ...scope });
      expect(
        await made.then(
          () => 'made',
          () => 'refused',
        ),
      ).toBe('refused');
    }
    expect(tokens.list()).toHaveLength(2);
    expect(stage.snapshot()).toBe(before);
  });

  test('revoking twice keeps the first moment and is recorded once', async () => {
    const { tokens, audit } = stage.app.services;
    const { record } = await make();
    const first = await tokens.revoke(actor, record.id);
    stage.app.clock.advance(1_000);
    expect(await tokens.revoke(actor, record.id)).toEqual(first);
    expect(audit.listNewest({ event: 'token.revoked' }, 10)).toHaveLength(1);
  });
});

test('6,000 requests a minute are answered, and the next is told to wait', async () => {
  const { limiter, tokens } = stage.app.services;
  const { kind, id } = tokens.authenticate(`Bearer ${stage.all}`, null);
  for (let n = 0; n < 5_999; n += 1)
    limiter.take(`${kind}:${id}`, { limit: 6_000, per: 'minute', what: 'test' });
  expect((await introspect({ Authorization: `Bearer ${stage.all}` })).status).toBe(200);
  const answer = await introspect({ Authorization: `Bearer ${stage.all}` });
  expect({ status: answer.status, code: codeOf(answer) }).toEqual({ status: 429, code: 'RATE_LIMITED' });
  expect(answer.headers.get('retry-after')).toBe('60');
  expect((await introspect({ Authorization: `Bearer ${stage.scoped}` })).status).toBe(200);
});
