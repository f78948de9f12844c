/** What the columns of a file become: in four languages, kept where they are no field, and told where they can be nothing. */
import { beforeAll, describe, expect, test } from 'bun:test';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fatesOf, recogniseFields } from '../../../src/marketing/imports/headers.ts';
import { run, runRecord } from '../../support/command.ts';
import { makeTempDir } from '../../support/temp.ts';
import { dataOf, type MarketingApp, rowsOf, startMarketingApp } from '../settings/setup.ts';

let on: MarketingApp;
beforeAll(async () => {
  on = await startMarketingApp();
});

async function importCsv(list: string, text: string, options: object = {}) {
  const form = new FormData();
  form.set('file', new Blob([text], { type: 'text/csv' }), 'people.csv');
  const { body } = await on.app.call('POST', '/api/v1/objects', { key: on.key, body: form });
  const asked = { method: 'csv', object: String(body.public_id), ...options };
  return on.call('POST', `/email-lists/${list}/imports`, asked);
}
const peopleOf = async (list: string) => rowsOf(await on.call('GET', `/email-lists/${list}/contacts`));

test.each([
  ['English', 'Email Address,First Name,Surname,Tags,Source,Reason'],
  ['German', 'E-Mail-Adresse;Vorname;Nachname;Schlagwörter;Herkunft;Grund'],
  ['German, as Outlook has it', 'Mailadresse;VORNAME;Name;Schlagworte;Quelle;Anlass'],
  ['French', 'Adresse e-mail;Prénom;Nom de famille;Étiquettes;Origine;Motif'],
  ['French without accents', 'courriel;prenom;NOM;etiquettes;provenance;raison'],
  ['Spanish', 'Correo electrónico;Nombre;Apellidos;Etiquetas;Fuente;Motivo'],
  ['Spanish, decomposed', 'Correo_Electro\u0301nico;Nombre(s);Apellido;etiqueta;Procedencia;Razo\u0301n'],
])('headers are recognised in %s', (_language, line) => {
  const headers = line.split(/[;,]/);
  expect(recogniseFields(headers)).toEqual(['email', 'first_name', 'last_name', 'tags', 'source', 'reason']);
});

test('a name alone is no field, nor is a word that only looks like one, nor the second of a kind', () => {
  expect(recogniseFields(['Name', 'email'])).toEqual([null, 'email']);
  expect(recogniseFields(['constructor', '__proto__', 'toString', ''])).toEqual([null, null, null, null]);
  const twice = recogniseFields(['E-Mail', 'Email', 'Vorname', 'Name', 'Nachname']);
  expect(twice).toEqual(['email', null, 'first_name', null, 'last_name']);
});

describe('a column that is no field', () => {
  test('becomes a custom field under its header, and the record tells of all', async () => {
    const list = await on.list();
    const csv = 'E-Mail-Adresse;Vorname; Straße & Nr. ;Tarif\nann@example.com;Ann;Weg 5;pro\n';
    const record = dataOf(await importCsv(list, csv), 201);
    expect(record.columns).toEqual({
      fields: { 'E-Mail-Adresse': 'email', Vorname: 'first_name' },
      kept: ['Straße & Nr.', 'Tarif'],
      left_out: [],
      unknown_words: [],
    });
    expect(await peopleOf(list)).toMatchObject([
      { email: 'ann@example.com', first_name: 'Ann', custom: { 'Straße & Nr.': 'Weg 5', Tarif: 'pro' } },
    ]);
  });

  test('is told where it cannot: without a name, with one too long, with that of another, and past fifty', async () => {
    const list = await on.list();
    const long = 'ü'.repeat(101);
    const just = 'ü'.repeat(100);
    const many = Array.from({ length: 49 }, (_, n) => `f${n}`);
    const headers = ['Email', '', long, just, 'email', 'f0', ...many, 'last'];
    const row = headers.map((_, place) => (place === 0 ? 'bob@example.com' : `v${place}`));
    const record = dataOf(await importCsv(list, `${headers.join(',')}\n${row.join(',')}\n`), 201);
    expect(record.columns).toEqual({
      fields: { Email: 'email' },
      kept: [just, 'email', 'f0', ...many.slice(1, 48)],
      left_out: [
        { column: 2, header: '', reason: 'no_name' },
        { column: 3, header: long.slice(0, 100), reason: 'name_too_long' },
        { column: 7, header: 'f0', reason: 'repeated' },
        { column: 55, header: 'f48', reason: 'too_many' },
        { column: 56, header: 'last', reason: 'too_many' },
      ],
      unknown_words: [],
    });
    const [bob] = await peopleOf(list);
    expect(Object.keys(bob?.custom as object)).toHaveLength(50);
    expect(bob?.custom).toMatchObject({ [just]: 'v3', f0: 'v5', f1: 'v7' });
  });

  test('is left out, and untold, where keep_columns says which are kept: none, say', async () => {
    const list = await on.list();
    const csv = 'email,plan,town\ncarl@example.com,pro,Ulm\n';
    const none = dataOf(await importCsv(list, csv, { keep_columns: [] }), 201);
    expect(none.columns).toMatchObject({ fields: { email: 'email' }, kept: [], left_out: [] });
    const options = { keep_columns: ['town', 'email'], update_existing: true };
    const some = dataOf(await importCsv(list, csv, options), 201);
    expect(some.columns).toMatchObject({ kept: ['email', 'town'] });
    expect(await peopleOf(list)).toMatchObject([{ custom: { town: 'Ulm', email: 'carl@example.com' } }]);
  });

  test('may have any name', async () => {
    const list = await on.list();
    dataOf(await importCsv(list, 'email,__proto__,constructor\ndora@example.com,a,b\n'), 201);
    const { text } = await on.call('GET', `/email-lists/${list}/contacts`);
    expect(text).toContain('"custom":{"__proto__":"a","constructor":"b"}');
  });
});

test('what columns become is told before anything is imported', async () => {
  const list = await on.list();
  const path = `/email-lists/${list}/imports/columns`;
  const { status, body } = await on.call('POST', path, { headers: [' Prénom ', 'Courriel', 'Ville', ''] });
  expect([status, body.data]).toEqual([
    200,
    [
      { header: 'Prénom', field: 'first_name', is_kept: false, left_out: null },
      { header: 'Courriel', field: 'email', is_kept: false, left_out: null },
      { header: 'Ville', field: null, is_kept: true, left_out: null },
      { header: '', field: null, is_kept: false, left_out: 'no_name' },
    ],
  ]);
  const refused = await on.call('POST', path, { headers: Array.from({ length: 1001 }, () => 'x') });
  expect(refused.status).toBe(422);
  expect(
    (await on.call('POST', '/email-lists/01ARZ3NDEKTSV4RRFFQ69G5FAV/imports/columns', { headers: [] }))
      .status,
  ).toBe(404);
});

describe('a paste', () => {
  const paste = async (list: string, text: string) =>
    dataOf(await on.call('POST', `/email-lists/${list}/imports`, { method: 'paste', text }), 201);

  test('of cells with a line that names them is read as a file is', async () => {
    const list = await on.list();
    const record = await paste(
      list,
      '\nNachname\tE-Mail\tVorname\tStadt\r\nMüller\tann@example.com\tAnn\tUlm\r\n\tnobody\t\t\r\n',
    );
    expect(record).toMatchObject({
      ...{ total_rows: 2, accepted: 1, invalid_syntax: 1, method: 'paste' },
      columns: {
        fields: { Nachname: 'last_name', 'E-Mail': 'email', Vorname: 'first_name' },
        kept: ['Stadt'],
      },
    });
    expect(await peopleOf(list)).toMatchObject([
      { email: 'ann@example.com', first_name: 'Ann', last_name: 'Müller', custom: { Stadt: 'Ulm' } },
    ]);
    // The header is row 1, as in a file.
    const { text } = await on.call('GET', `/email-imports/${record.id}/rejected`);
    expect(text).toBe('row_number,email,reason\n3,nobody,invalid_syntax\n');
  });

  test('of addresses alone has no columns, and a first line without an address is one that is wrong', async () => {
    const list = await on.list();
    // A quotation mark that is left open is a character of its cell.
    const open = await paste(list, 'name,email\n"Ann,ann@example.com\n');
    expect(open).toMatchObject({ total_rows: 1, accepted: 1 });
    const record = await paste(list, 'Our people\nbob@example.com\n');
    expect(record).toMatchObject({ accepted: 1, invalid_syntax: 1, columns: null });
    const named = await paste(await on.list(), 'email\nbob@example.com\n');
    expect(named).toMatchObject({ accepted: 1, invalid_syntax: 0, total_rows: 1 });
  });
});

test('the shell tells what became of the columns, and takes --keep for those that are wanted', async () => {
  const list = await on.list();
  const file = join(makeTempDir(), 'personas.csv');
  writeFileSync(file, 'Correo electrónico;Nombre;Plan;\neva@example.com;Eva;pro;\n');
  const { stdout } = await run(on.app.config.data_dir, 'import', 'start', list, file);
  expect(stdout).toContain('Correo electrónico is email, Nombre is first_name');
  expect(stdout).toContain('Plan');
  expect(stdout).toContain('column 4 has no name');
  const kept = await runRecord(
    on.app.config.data_dir,
    ...['import', 'start', list, file, '--keep', 'Nombre'],
  );
  expect(kept.columns).toMatchObject({ kept: ['Nombre'], left_out: [] });
});

test('thousands of columns are told within one turn', () => {
  const headers = Array.from({ length: 20_000 }, (_, n) => `h${n % 15_000}`);
  const fates = fatesOf(headers, recogniseFields(headers));
  expect(fates.filter(({ is_kept }) => is_kept)).toHaveLength(50);
  expect(fates.filter(({ left_out }) => left_out === 'repeated')).toHaveLength(5_000);
});
