/** Which mailbox a message goes out from, and what is said about it. */
import { describe, expect, test } from 'bun:test';
import type { Candidate } from '../../../src/mail/mailboxes/choosing.ts';
import { type ChoiceRequest, chooseMailbox } from '../../../src/mail/mailboxes/choosing.ts';

const NOW = Date.parse('2030-01-15T18:00:00Z');
const REQUEST: ChoiceRequest = {
  project_id: 1,
  domain: null,
  purpose: 'transactional',
  day: '2030-01-15',
  now_ms: NOW,
  is_test: false,
};

let ids = 0;
function mailbox(address: string, fields: Partial<Candidate> = {}): Candidate {
  ids += 1;
  return {
    domain_id: ids,
    domain: address.split('@')[1] ?? '',
    is_default: 0,
    is_active: 1,
    is_verified: 1,
    mailbox_id: ids,
    address,
    kind: 'smtp',
    revision: 1,
    status: 'active',
    for_transactional: 1,
    for_marketing: 0,
    daily_limit: null,
    failures: 0,
    resting_until: null,
    used: 0,
    ...fields,
  };
}

function chosen(candidates: Candidate[], request: Partial<ChoiceRequest> = {}): string | null {
  const choice = chooseMailbox(candidates, { ...REQUEST, ...request });
  return choice.ok ? choice.address : choice.error.kind;
}

describe('with no domain asked for', () => {
  test('the first in the list, which is the default, is taken', () => {
    expect(chosen([mailbox('a@one.test', { is_default: 1 }), mailbox('b@two.test')])).toBe('a@one.test');
  });

  const OBSTACLES: [string, Partial<Candidate>, string][] = [
    ['inactive domain', { is_active: 0 }, 'not active'],
    ['unverified domain', { is_verified: 0 }, 'not verified'],
    ['paused', { status: 'paused' }, 'paused'],
    ['marketing only', { for_transactional: 0, for_marketing: 1 }, 'not for transactional'],
    ['used up', { daily_limit: 3, used: 3 }, 'used up'],
    ['resting', { failures: 4, resting_until: NOW + 1 }, 'resting until 2030-01-15T18:00:00.001Z'],
  ];
  for (const [name, fields, reason] of OBSTACLES) {
    test(`a mailbox that is ${name} is passed over, and the explanation says why`, () => {
      const choice = chooseMailbox([mailbox('a@one.test', fields), mailbox('b@two.test')], REQUEST);
      expect(choice).toMatchObject({ ok: true, address: 'b@two.test' });
      expect(choice.explanation).toContain('a@one.test');
      expect(choice.explanation).toContain(reason);
    });
  }

  test('of many mailboxes that are passed over a few are named, and the others counted', () => {
    const best = mailbox('a@one.test');
    const others = Array.from({ length: 1_000 }, (_, n) => mailbox(`m${n}@one.test`));
    const { explanation } = chooseMailbox([best, ...others], REQUEST);
    expect(explanation).toContain('m0@one.test (as good, but its turn comes later)');
    expect(explanation).toEndWith('nor 980 more.');
    expect(explanation.length).toBeLessThan(1_500);
    const none = chooseMailbox(
      others.map((other) => ({ ...other, status: 'paused' })),
      REQUEST,
    );
    expect(none.explanation).toEndWith('nor 980 more.');
  });

  test('of twenty mailboxes that the mail may not go out from only the number is told', () => {
    const others = Array.from({ length: 20 }, (_, at) => mailbox(`m${at}@one.test`));
    const candidates = [mailbox('a@one.test'), mailbox('b@one.test', { status: 'paused' }), ...others];
    const bound = (...only: string[]) => chooseMailbox(candidates, { ...REQUEST, only }).explanation;
    const among = 'it is among the mailboxes that the mail may go out from';
    expect(bound('a@one.test')).toBe(`a@one.test: ${among}. Not 21 that it may not go out from.`);
    expect(bound('a@one.test', 'b@one.test')).toBe(
      `a@one.test: ${among}. Not b@one.test (paused), nor 20 that it may not go out from.`,
    );
    expect(bound('b@one.test')).toEndWith('Not b@one.test (paused), nor 21 that it may not go out from.');
  });

  test('one that rests is taken when no other is left', () => {
    const resting = { failures: 4, resting_until: NOW + 1 };
    expect(chosen([mailbox('a@one.test', resting), mailbox('b@two.test', { status: 'paused' })])).toBe(
      'a@one.test',
    );
    const full = mailbox('b@two.test', { daily_limit: 1, used: 1 });
    expect(chosen([mailbox('a@one.test', resting), full])).toBe('a@one.test');
  });

  test('of several of one domain that rest the one whose rest ends first is taken', () => {
    const until = (ms: number) => ({ domain_id: 1, failures: 4, resting_until: NOW + ms });
    const candidates = [mailbox('a@one.test', until(2_000)), mailbox('b@one.test', until(1_000))];
    expect(chosen(candidates)).toBe('b@one.test');
  });

  test('after a failure neither the failed one nor one that rests is taken', () => {
    const candidates = [
      mailbox('a@one.test'),
      mailbox('b@two.test', { failures: 3, resting_until: NOW + 1 }),
    ];
    expect(chosen(candidates, { tried: [candidates[0]?.address ?? ''] })).toBe('unavailable');
  });

  test('all used up is 429 until midnight; none usable at all is 503', () => {
    const full = chooseMailbox([mailbox('a@one.test', { daily_limit: 1, used: 1 })], REQUEST);
    expect(full).toMatchObject({ ok: false, error: { kind: 'rate_limited', retry_after_s: 6 * 3_600 } });
    expect(chosen([mailbox('a@one.test', { status: 'paused' })])).toBe('unavailable');
    expect(chosen([])).toBe('unavailable');
  });

  describe('the refusal tells what keeps each mailbox that could serve from it, without its name', () => {
    const full = (address: string) => mailbox(address, { daily_limit: 1, used: 1 });
    const paused = (address: string) => mailbox(address, { status: 'paused' });
    const kept = (address: string) => mailbox(address, { kind: 'capture' });
    const other = (address: string) => mailbox(address, { for_transactional: 0, for_marketing: 1 });
    const MIDNIGHT_S = 6 * 3_600;
    const LATER = 'Try again after midnight UTC.';
    const cases: [string, Candidate[], Partial<ChoiceRequest>, [string, number, string]][] = [
      [
        'all used up',
        [full('a@one.test'), full('b@two.test'), other('c@two.test')],
        {},
        ['rate_limited', MIDNIGHT_S, `2 have used up their messages of 2030-01-15 (UTC). ${LATER}`],
      ],
      [
        'some used up, one paused, one that captures',
        [full('a@one.test'), paused('b@two.test'), kept('c@three.test')],
        {},
        [
          'rate_limited',
          MIDNIGHT_S,
          `1 has used up its messages of 2030-01-15 (UTC), 1 is paused, 1 only captures mail. ${LATER}`,
        ],
      ],
      [
        'all of domains that are not verified, or for other mail',
        [
          mailbox('a@one.test', { is_verified: 0 }),
          mailbox('b@one.test', { is_verified: 0, for_transactional: 0, for_marketing: 1 }),
        ],
        {},
        ['unavailable', 60, 'no usable mailbox to send from: 1 is of a domain that is not verified.'],
      ],
      ['all paused', [paused('a@one.test'), paused('b@two.test')], {}, ['unavailable', 60, '2 are paused.']],
      [
        'used up and paused, of a domain asked for',
        [full('a@one.test'), paused('b@one.test'), full('c@two.test')],
        { domain: 'one.test' },
        [
          'unavailable',
          MIDNIGHT_S,
          `without capacity: of its mailboxes 1 has used up its messages of 2030-01-15 (UTC), 1 is paused. ${LATER}`,
        ],
      ],
      [
        'paused, of a domain asked for',
        [paused('b@one.test'), full('c@two.test')],
        { domain: 'one.test' },
        ['unavailable', 60, 'without capacity: of its mailboxes 1 is paused.'],
      ],
      [
        'used up on a later day, where waiting for midnight is no use',
        [full('a@one.test')],
        { day: '2030-02-01' },
        ['rate_limited', MIDNIGHT_S, 'of 2030-02-01 (UTC). Choose another day.'],
      ],
    ];
    for (const [name, candidates, request, [kind, retry_after_s, words]] of cases) {
      test(name, () => {
        const choice = chooseMailbox(candidates, { ...REQUEST, ...request });
        expect(choice).toMatchObject({ ok: false, error: { kind, retry_after_s } });
        const message = choice.ok ? '' : choice.error.message;
        expect(message).toEndWith(words);
        expect(message).not.toContain('@');
        // What the operator reads names them.
        expect(choice.explanation).toContain(candidates[0]?.address ?? '');
      });
    }
  });
});

describe('with a domain asked for', () => {
  test('unknown, inactive and unverified are refused under its field', () => {
    const candidates = [
      mailbox('a@off.test', { is_active: 0 }),
      mailbox('b@new.test', { is_verified: 0 }),
      mailbox('c@good.test'),
    ];
    for (const domain of ['gone.test', 'off.test', 'new.test']) {
      const choice = chooseMailbox(candidates, { ...REQUEST, domain });
      expect(choice).toMatchObject({
        ok: false,
        error: { kind: 'invalid', errors: { domain: [expect.any(String)] } },
      });
    }
    expect(chosen(candidates, { domain: 'good.test' })).toBe('c@good.test');
  });

  test('no other domain steps in', () => {
    const candidates = [mailbox('a@one.test', { daily_limit: 1, used: 1 }), mailbox('b@two.test')];
    expect(chosen(candidates, { domain: 'one.test' })).toBe('unavailable');
  });

  test('nothing is said of the others, which it does not concern', () => {
    const none = { mailbox_id: null, address: null, kind: null, revision: null };
    const candidates = [mailbox('a@one.test', none), mailbox('b@two.test', none), mailbox('c@three.test')];
    const { explanation } = chooseMailbox(candidates, { ...REQUEST, domain: 'one.test' });
    expect(explanation).toContain('one.test (no mailbox)');
    expect(explanation).not.toMatch(/two\.test|three\.test/);
  });
});

describe('a mailbox that captures', () => {
  const kept = { kind: 'capture' } as const;

  test('stands in for no relay of another domain, whatever keeps that one from sending', () => {
    const obstacles: Partial<Candidate>[] = [
      { status: 'paused' },
      { daily_limit: 1, used: 1 },
      { is_active: 0 },
      { mailbox_id: null, address: null, kind: null, revision: null },
    ];
    for (const fields of obstacles) {
      const candidates = [mailbox('a@one.test', { is_default: 1, ...fields }), mailbox('b@two.test', kept)];
      const choice = chooseMailbox(candidates, REQUEST);
      expect(choice.ok).toBe(false);
      expect(choice.explanation).toContain('b@two.test (it captures mail, and its domain was not asked for');
      expect(chosen(candidates, { domain: 'two.test' })).toBe('b@two.test');
    }
  });

  test('leaves what failed at a relay, or what a resting relay can try, to relays', () => {
    const resting = { is_default: 1, failures: 4, resting_until: NOW + 1 };
    const candidates = [mailbox('a@one.test', resting), mailbox('b@two.test', kept)];
    expect(chosen(candidates)).toBe('a@one.test');
    expect(chosen(candidates, { tried: [candidates[0]?.address ?? ''] })).toBe('unavailable');
  });

  test('takes what leaves the domain open where its own is the default', () => {
    expect(chosen([mailbox('a@one.test', { is_default: 1, ...kept }), mailbox('b@two.test')])).toBe(
      'a@one.test',
    );
  });

  test('stands in for no relay of its own domain, a paused one included, unless that is for other mail', () => {
    const beside = (fields: Partial<Candidate>) => [
      mailbox('a@one.test', { is_default: 1, ...fields }),
      mailbox('b@one.test', { is_default: 1, for_marketing: 1, ...kept }),
    ];
    for (const domain of [null, 'one.test']) {
      expect(chosen(beside({ used: 9 }), { domain })).toBe('a@one.test');
      expect(chosen(beside({ status: 'paused' }), { domain })).toBe('unavailable');
      expect(chosen(beside({ for_marketing: 0 }), { domain, purpose: 'marketing' })).toBe('b@one.test');
      expect(chosen(beside({}), { domain, only: ['b@one.test'] })).toBe('b@one.test');
    }
  });
});

describe('among the mailboxes of a domain', () => {
  const pair = (left: Partial<Candidate>, right: Partial<Candidate>) => [
    mailbox('a@one.test', { domain_id: 1, ...left }),
    mailbox('b@one.test', { domain_id: 1, ...right }),
  ];

  test('the one with most of its quota left is taken, and without quotas the one that sent least', () => {
    expect(chosen(pair({ daily_limit: 10, used: 8 }, { daily_limit: 5, used: 1 }))).toBe('b@one.test');
    expect(chosen(pair({ used: 8 }, { used: 1 }))).toBe('b@one.test');
  });

  test('the other is said to have less left only where it has', () => {
    const fuller = chooseMailbox(pair({ daily_limit: 10, used: 8 }, { daily_limit: 5, used: 1 }), REQUEST);
    expect(fuller.explanation).toContain('a@one.test (less capacity left)');
    const alike = chooseMailbox(pair({ used: 8 }, { used: 1 }), REQUEST);
    expect(alike.explanation).toContain('a@one.test (as good, but its turn comes later)');
  });

  test('the one that has a place for the mail keeps it, though it is full but for that', () => {
    const candidates = pair({ daily_limit: 1, used: 1 }, { daily_limit: 9 });
    const held_mailbox_id = candidates[0]?.mailbox_id ?? null;
    expect(chosen(candidates, { held_mailbox_id })).toBe('a@one.test');
  });
});
