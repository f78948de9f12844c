/** Templates as files: what push makes of one, that pull gives it back, and what is refused, by line and name. */
import { beforeAll, expect, test } from 'bun:test';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  kindOfFile,
  readTemplateFile,
  writeTemplateFile,
} from '../../../src/mail/templates/template-file.ts';
import { type Ran, run, runRecord } from '../../support/command.ts';
import { makeProject, startTestApp, type TestApp } from '../../support/helpers.ts';
import { makeTempDir } from '../../support/temp.ts';

let app: TestApp;
const folder = makeTempDir();

beforeAll(async () => {
  app = await startTestApp();
  await makeProject(app);
});

const FRONT = `name: Order shipped
slug: order-shipped
subject: "Order {{ order_id }} is on its way"
category: transactional
variables:
  - name: order_id
    required: true
  - name: url
`;
const FILE = `---\n${FRONT}---\n\n# Hello\n\n[Follow it]({{ url }}), order {{ order_id }}.\n`;

function push(name: string, text: string | Uint8Array): Promise<Ran> {
  const path = join(folder, name);
  writeFileSync(path, text);
  return run(app.data_dir, 'template', 'push', path, '--project', 'shop');
}

const pull = (slug: string): Promise<Ran> => run(app.data_dir, 'template', 'pull', slug, '--project', 'shop');
const shown = (slug: string) => runRecord(app.data_dir, 'template', 'show', slug, '--project', 'shop');
const trail = () => app.services.audit.list(null, { page: 1, per_page: 50 }).data.map(({ event }) => event);

test('a file makes its template, changes it by its slug, and changes nothing where nothing is different', async () => {
  expect((await push('a.md', FILE)).stdout).toBe('Template Order shipped (order-shipped) is made.\n');
  const made = await shown('order-shipped');
  expect(made).toMatchObject({
    ...{ subject: 'Order {{ order_id }} is on its way', category: 'transactional', is_marketing: false },
    body_html: '<h1>Hello</h1>\n<p><a href="{{url}}">Follow it</a>, order {{order_id}}.</p>\n',
    variables: [
      { name: 'order_id', description: null, required: true },
      { name: 'url', description: null, required: false },
    ],
  });
  const before = trail();
  const { stdout, stderr } = await pull('order-shipped');
  expect(stderr).toContain('This is Markdown: keep it as order-shipped.md');
  for (const file of [FILE, stdout])
    expect((await push('back.md', file)).stdout).toContain('nothing was changed');
  expect(trail()).toEqual(before);
  expect(await shown('order-shipped')).toEqual(made);
  const changed = await push(
    'a.markdown',
    FILE.replace('Hello', 'Hi').replace('required: true', 'description: No'),
  );
  expect(changed.stdout).toBe(
    'Template Order shipped (order-shipped) is changed: body_markdown, variables.\n',
  );
  expect(trail()).toEqual(['template.changed', ...before]);
  const pulled = (await pull('order-shipped')).stdout;
  expect(pulled).toContain('description: No');
  expect((await push('again.md', pulled)).stdout).toContain('nothing was changed');
});

test('what the front matter leaves out stays, and what is empty is cleared', async () => {
  await push(
    'a.md',
    FILE.replace(FRONT, `${FRONT}description: For orders\nis_marketing: true\nlayout: marketing\n`),
  );
  const kept = { description: 'For orders', is_marketing: true, layout: 'marketing' };
  await push('a.md', '---\nslug: order-shipped\nsubject: Other\n---\nHi');
  expect(await shown('order-shipped')).toMatchObject({ ...kept, name: 'Order shipped', subject: 'Other' });
  const cleared = await push(
    'a.md',
    '---\nslug: order-shipped\nvariables:\ndescription:\nis_marketing: ~\nlayout: null\n---\nHi',
  );
  expect(cleared.stdout).toContain('is changed: description, is_marketing, layout, variables.');
  expect(await shown('order-shipped')).toMatchObject({
    description: null,
    is_marketing: false,
    variables: [],
  });
  expect((await push('a.md', '---\nslug: order-shipped\nvariables: []\n---\nHi')).stdout).toContain(
    'nothing was',
  );
});

test('HTML and text are bodies of their own, and end the Markdown with all that was made of it', async () => {
  const html = `---\n${FRONT.replace('order-shipped', 'html')}---\n<p>{{ url }}</p>`;
  expect((await push('b.HTML', html)).exit).toBe(0);
  expect(await shown('html')).toMatchObject({ body_html: '<p>{{ url }}</p>', body_text: null });
  await push('b.txt', '---\nslug: html\n---\nText\n');
  expect(await shown('html')).toMatchObject({ body_html: '<p>{{ url }}</p>', body_text: 'Text\n' });
  const { stdout, stderr } = await pull('html');
  expect(stderr).toContain('Its text stands in the template alone');
  expect((await push('b.html', stdout)).stdout).toContain('nothing was changed');
  await push('b.md', '---\nslug: html\n---\n*a*');
  expect(await shown('html')).toMatchObject({
    body_html: '<p><em>a</em></p>\n',
    body_text: 'a',
    body_markdown: '*a*',
  });
  await push('b.htm', '---\nslug: html\n---\n<p>b</p>');
  expect(await shown('html')).toMatchObject({ body_html: '<p>b</p>', body_text: null, body_markdown: null });
  await push('c.txt', '---\nname: Only text\nsubject: T\ncategory: other\n---\nT');
  expect((await pull('only-text')).stderr).toContain('only-text.txt');
  // Without a slug the name makes it, each time.
  const again = await push('c.txt', '---\nname: Only text\n---\nT');
  expect(again.stdout).toContain('(only-text) is as the file has it');
});

test.each([
  ['no front matter', '# Hi', ['line 1: must be ---']],
  ['no end', '---\nname: a\n', ['line 1: the front matter has no end']],
  ['no map', '---\n- a\n---\n', ['line 2: the front matter must be lines of a name, a colon and a value']],
  ['broken YAML', '---\nname: a\nsubject: Hello: you\n---\n', ['line 3: Nested mappings']],
  ['a name twice', '---\nname: a\nname: b\n---\n', ['line 3: Map keys must be unique']],
  ['an alias', '---\nname: &a b\nsubject: *a\n---\n', ['line 3: write the value out']],
  [
    'a bare placeholder',
    '---\nsubject: {{ name }}\n---\n',
    ['line 2: subject must be a string. A text with {{'],
  ],
  [
    'several at once',
    '---\r\nname: 7\r\ncolour: red\r\ncategory: nope\r\nvariables:\r\n  - name: a\r\n    requird: true\r\n  - b\r\n---\r\n',
    [
      'line 2: name must be a string',
      'line 3: colour is none of name, slug, subject',
      'line 4: category must be one of',
      'line 7: requird is none of name, description, required',
      'line 8: variables.1 must be an object',
    ],
  ],
  [
    'what a template must have',
    '---\nname: a\nvariables:\n  - name: "{x"\nslug: a b\n---\n',
    [
      'body_html a template needs',
      'line 1: category is required',
      'line 1: subject is required',
      'line 4: variables.0.name must be usable in a placeholder',
      'line 5: slug must be of letters',
    ],
  ],
])('%s is refused by line and name, and nothing is stored', async (_what, text, problems) => {
  const before = trail();
  const { exit, stderr } = await push('bad.md', text);
  expect(exit).toBe(1);
  const told = stderr.replace('satchel: ', '').trimEnd().split('\n');
  expect(told.map((line, index) => line.trim().slice(0, problems[index]?.length))).toEqual(problems);
  expect(trail()).toEqual(before);
});

test('a file of another kind is wrong usage, one that is not there or no text is refused', async () => {
  expect((await push('a.docx', FILE)).exit).toBe(2);
  expect(kindOfFile('a.constructor')).toBeNull();
  const no_text = await push('a.md', new Uint8Array([0x2d, 0xff]));
  expect([no_text.exit, no_text.stderr]).toEqual([1, 'satchel: The file is no text in UTF-8.\n']);
  const missing = await run(app.data_dir, 'template', 'push', join(folder, 'none.md'), '--project', 'shop');
  expect([missing.exit, missing.stderr.includes('cannot be read')]).toEqual([1, true]);
  expect((await pull('none')).exit).toBe(1);
});

test('whatever a template says, its file says the same', () => {
  const hard = [
    '{{ a }}',
    '- a',
    'yes',
    '012',
    ' a ',
    '# a',
    'it\'s: "b"',
    '---',
    '\u{1F600}\u0085',
    'a\nb',
    '~',
    '@a',
  ];
  for (const text of hard) {
    const template = {
      ...{ id: 'X', slug: 's', name: text, category: 'other' as const, subject: text, description: text },
      variables: [{ name: text, description: text, required: true }],
      ...{
        is_active: true,
        is_marketing: true,
        layout: 'marketing' as const,
        is_own: false,
        draft: null,
        has_draft: false,
        created_at: '',
        updated_at: '',
      },
      ...{ body_html: '', body_text: '', body_markdown: `---\n${text}\n---` },
    };
    const { kind, file } = writeTemplateFile(template);
    const read = readTemplateFile(new TextEncoder().encode(file), kind);
    expect(read.fields).toMatchObject({ name: text, subject: text, description: text });
    expect(read.fields.variables).toEqual([{ name: text, description: text, required: true }]);
    expect(read.body).toBe(template.body_markdown);
  }
});
