/** What all verbs have of their kind: options of fields, what becomes of them, and the rows of tables. */
import { expect, test } from 'bun:test';
import { Command } from 'commander';
import { invalid } from '../../../src/errors.ts';
import { Cli } from '../../../src/platform/cli/cli.ts';
import { fieldsOf } from '../../../src/platform/cli/fields.ts';
import { rowOf } from '../../../src/platform/cli/tables.ts';
import { namedVerbs } from '../../../src/platform/cli/verb.ts';
import { systemClock } from '../../../src/platform/host/clock.ts';
import {
  changesOfFields,
  creationOf,
  optional,
  preset,
  required,
} from '../../../src/platform/http/fields.ts';
import { oneOf, t } from '../../../src/platform/http/schema.ts';
import { standInProcess } from '../../support/command.ts';

const FIELDS = {
  name: required(t.String({ minLength: 1 }), { option: '--name <name>', says: 'its name' }),
  people: required(t.Array(t.Object({ email: t.String() })), { option: '--to <addresses>', says: 'who' }),
  size: optional(null, t.Integer({ minimum: 1 }), { option: '--size <n>', says: 'how large' }),
  kind: optional('a', oneOf(['a', 'b']), { option: '--kind <kind>', says: 'which' }),
  values: optional({}, t.Record(t.String(), t.Unknown()), { option: '--set <name=value>', says: 'a value' }),
  is_on: preset(true, t.Boolean(), { option: '--on', says: 'on', unset_option: '--off', unset: 'off' }),
  body: optional(null, t.String(), { option: '--body <text>', says: 'its text', is_long: true }),
  note: optional(null, t.String(), { option: '--note <text>', says: 'a note', is_long: true }),
};
const creation = creationOf(FIELDS);
const reads = { people: (email: string) => ({ email }), name: (given: string) => given.toUpperCase() };
const project = { id: 1, public_id: 'P', slug: 'shop' };

/** Runs a verb of a noun `thing`, one of which is called `One`; it prints what it was given. */
async function thing(line: string[], input = '') {
  const { process, written } = standInProcess({ input });
  const one = { key: '7', id: 'ID', project_id: 1, is_over: false };
  const services = {
    projects: { require: () => project, requireById: () => project },
    names: {
      what: 'thing',
      byId: () => one,
      called: (_: number, name: string) => (name === 'One' ? [one] : []),
    },
  };
  const register = async (cli: Cli<typeof services>) => {
    const verbs = namedVerbs(cli.noun('thing'), ({ names }) => names);
    verbs
      .all('create', 'make one')
      .takes(FIELDS, creation, {
        reads,
        more: ({ extra: kind }) => ({ kind }),
        options: { kind: '--extra' },
        errorsIn: ({ name }) => (name === 'BAD' ? { name: ['is bad beside is_on'] } : {}),
      })
      .option('--extra <kind>', 'another way to say its kind')
      .shows(({ sent }) => sent);
    verbs
      .one('change', 'change one')
      .changes(FIELDS, changesOfFields(FIELDS), { reads })
      .shows(({ id, project: { public_id }, fields, sent }) => ({
        id,
        public_id,
        given: Object.keys(fields),
        sent,
      }));
    verbs.one('remove', 'delete one').removes(({ id, consent }) => {
      consent(`deletes ${id}`);
      throw invalid({ name: ['stays'] });
    });
  };
  const words = [{ usage: 'thing', about: 'things', register }];
  const open = async () => ({ services, record: () => {}, close: async () => {} });
  const cli = new Cli(new Command('satchel'), { process, clock: systemClock, words, open });
  const exit = await cli.main(['thing', ...line]);
  return { exit, ...written, json: () => JSON.parse(written.stdout) };
}
const create = (...args: string[]) => thing(['create', '--project', 'shop', '--json', ...args]);
const change = (...args: string[]) => thing(['change', 'One', '--project', 'shop', '--json', ...args]);
const MADE = ['--name', 'one', '--to', 'a@b.test'];

test('options give the fields of a new thing, each as its shape has it, and as the verb reads it', async () => {
  const all = [
    '--to',
    'c@d.test,e@f.test',
    '--size',
    '3',
    '--set',
    'x=1',
    '--set',
    'y=a=b',
    '--on',
    '--body',
    '-',
  ];
  expect((await thing(['create', '--project', 'shop', '--json', ...MADE, ...all], 'long')).json()).toEqual({
    name: 'ONE',
    people: [{ email: 'a@b.test' }, { email: 'c@d.test' }, { email: 'e@f.test' }],
    ...{ size: 3, values: { x: '1', y: 'a=b' }, is_on: true, body: 'long' },
  });
  expect((await create(...MADE, '--extra', 'b')).json()).toMatchObject({ kind: 'b' });
});

test.each([
  [[], "'--name <name>' not specified"],
  [[...MADE, '--size', '0'], 'at least 1'],
  [[...MADE, '--kind', 'c'], 'Allowed choices are a, b'],
  [[...MADE, '--set', 'x'], '--set takes NAME=VALUE.'],
  [[...MADE, '--body', '-', '--note', '-'], 'Only one of --body and --note can come from standard input.'],
])('%j is wrong usage of what makes a thing', async (args, told) => {
  expect(await create(...args)).toMatchObject({ exit: 2, stdout: '', stderr: expect.stringContaining(told) });
});

test('refusals name options, by shape and by rule', async () => {
  for (const [args, told] of [
    [['--name', '', '--to', 'a'], '--name must'],
    [['--name', 'bad', '--to', 'a'], '--name is bad beside --on'],
    [[...MADE, '--extra', 'c'], '--extra must be one of'],
  ] as const)
    expect(await create(...args)).toMatchObject({ exit: 1, stderr: expect.stringContaining(told) });
});

test('a change is of what is given; an empty text or a word clears what may be null, an option of its own a flag', async () => {
  const cleared = await change('--size', 'none', '--body', '', '--off', '--to', 'x@y.test');
  expect(cleared.json()).toEqual({
    ...{ id: '7', public_id: 'P', given: ['people', 'size', 'is_on', 'body'] },
    sent: { people: [{ email: 'x@y.test' }], size: null, is_on: false, body: null },
  });
  expect(await change()).toMatchObject({ exit: 2, stderr: expect.stringContaining('Name what to change.') });
  expect((await change('--on', '--off')).stderr).toContain('Give either --on or --off.');
  expect(await thing(['change', 'Two', '--project', 'shop', '--on'])).toMatchObject({
    ...{ exit: 1, stderr: expect.stringContaining('Thing not found') },
  });
});

test('what destroys says so and goes no further without --yes', async () => {
  const asked = await thing(['remove', 'One', '--project', 'shop']);
  expect([asked.exit, asked.stderr]).toEqual([1, 'satchel: This deletes 7. Add --yes to do it.\n']);
  expect((await thing(['remove', 'One', '--project', 'shop', '--yes'])).stderr).toContain('name stays');
});

test('fields of a shape are options in the order that they are told in, required where the shape requires them', () => {
  const shape = t.Object({ a: t.String(), b: t.Optional(t.String()) });
  const fields = fieldsOf(shape, { b: ['--bee <b>', 'b'], a: ['--ay <a>', 'a'] });
  expect(Object.entries(fields).map(([name, { use }]) => [name, use])).toEqual([
    ['b', 'preset'],
    ['a', 'required'],
  ]);
});

test('a row has the fields that its columns name, under their titles', () => {
  expect(Object.entries(rowOf({ id: 1, next_at: 2, left: 3 }, 'id next_run=next_at'))).toEqual([
    ['id', 1],
    ['next run', 2],
  ]);
});
