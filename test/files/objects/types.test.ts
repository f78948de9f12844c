/** As what a file comes and goes: its type, its charset, and whether a browser saves it. */
import { describe, expect, test } from 'bun:test';
import { makeProject, startTestApp } from '../../support/helpers.ts';
import { Tus } from '../uploads/tus.ts';

const app = await startTestApp();
const key = await (await makeProject(app)).key();

/** A form by hand: what makes forms here names a charset by itself. */
function formOf(content: string | Uint8Array, type: string | null, name: string, of = key) {
  const head = `--b\r\nContent-Disposition: form-data; name="file"; filename="${name}"\r\n`;
  const body = Buffer.concat([
    Buffer.from(`${head}${type === null ? '' : `Content-Type: ${type}\r\n`}\r\n`),
    Buffer.from(content as string),
    Buffer.from('\r\n--b--\r\n'),
  ]);
  return { key: of, body, headers: { 'Content-Type': 'multipart/form-data; boundary=b' } };
}

async function send(content: string | Uint8Array, type: string | null, name: string) {
  const answer = await app.call('POST', '/api/v1/objects', formOf(content, type, name));
  expect([answer.status, answer.text]).toEqual([201, expect.any(String)]);
  return answer.body;
}

describe('a CSV file as Windows sends it', () => {
  const EXCEL = 'application/vnd.ms-excel';
  const XLS = Buffer.from(`d0cf11e0a1b11ae1${'00'.repeat(600)}`, 'hex');

  test('is stored as what it is, by a form and by tus; a workbook is what it says', async () => {
    const tus = new Tus(app, key);
    const byTus = async (content: string | Uint8Array, filetype: string, filename: string) => {
      const path = await tus.path(Buffer.from(content as string).length, { filename, filetype });
      const sent = await tus.send(path, 0, content);
      return app.services.objects.requireAny(sent.headers.get('satchel-object') ?? '').mime_type;
    };
    for (const [content, type, name, stored] of [
      ['a,b\n1,2\n', EXCEL, 'list.csv', 'text/csv'],
      [
        'a,b\n1,2\n',
        'Application/VND.ms-excel; charset=windows-1252',
        'LIST.CSV',
        'text/csv; charset=windows-1252',
      ],
      ['a,b\n1,2\n', EXCEL, 'list.xls', EXCEL],
      ['a,b\n1,2\n', 'application/pdf', 'list.csv', 'application/pdf'],
      [XLS, EXCEL, 'list.csv', EXCEL],
      [Buffer.from([1, 2, 3, 0]), EXCEL, 'list.csv', EXCEL],
    ] as const) {
      const { mime_type } = await send(content, type, name);
      expect([type, name, mime_type]).toEqual([type, name, stored]);
      expect(await byTus(content, type, name)).toBe(stored);
    }
  });

  test.each([
    ['text/csv', 201, 422],
    [EXCEL, 201, 201],
    ['text/*', 201, 422],
    ['image/*', 422, 422],
  ])(
    'passes where %s is allowed, and a workbook as before',
    async (SATCHEL_ALLOWED_MIME_TYPES, csv, workbook) => {
      const strict = await startTestApp({ env: { SATCHEL_ALLOWED_MIME_TYPES } });
      const own = await (await makeProject(strict)).key();
      const tus = new Tus(strict, own);
      const statusOf = async (content: string | Uint8Array, filename: string) => {
        const sent = await strict.call('POST', '/api/v1/objects', formOf(content, EXCEL, filename, own));
        const bytes = Buffer.from(content as string);
        const begun = await tus.begin(bytes.length, { filename, filetype: EXCEL });
        if (begun.status !== 201) return [sent.status, begun.status];
        return [sent.status, (await tus.send(begun.headers.get('location') ?? '', 0, bytes)).status];
      };
      expect(await statusOf('a,b\n1,2\n', 'list.csv')).toEqual([csv, csv === 201 ? 204 : 422]);
      expect(await statusOf(XLS, 'list.xls')).toEqual([workbook, workbook === 201 ? 204 : 422]);
      await strict.stop();
    },
  );
});

describe('a file that a browser would show', () => {
  const dispositionOf = async (path: string, headers: Record<string, string> = {}) => {
    const { status, headers: got } = await app.call('GET', path, { headers });
    expect(status).toBe(200);
    return got.get('content-disposition')?.split(';')[0];
  };

  test('is saved where `download` stands in its address, with whatever value or none, but for a no', async () => {
    const { public_id } = await send('hello', 'text/plain', 'a.txt');
    const link = async (download: boolean) => {
      const body = { expires_in_seconds: 60, download };
      const made = await app.call('POST', `/api/v1/objects/${public_id}/links`, { key, body });
      return new URL(String(made.body.url)).pathname;
    };
    const [shown, saved] = [await link(false), await link(true)];
    for (const [query, disposition] of [
      ['', 'inline'],
      ['?download', 'attachment'],
      ['?download=', 'attachment'],
      ['?download=1', 'attachment'],
      ['?download=true', 'attachment'],
      ['?download=report.txt', 'attachment'],
      ['?download=00', 'attachment'],
      ['?download=0', 'inline'],
      ['?download=False', 'inline'],
      ['?download=1&download=FALSE', 'inline'],
      ['?download=0&download', 'attachment'],
      ['?Download=1', 'inline'],
    ] as const) {
      const own = await dispositionOf(`/api/v1/objects/${public_id}${query}`, { 'X-API-Key': key });
      expect([query, own, await dispositionOf(`${shown}${query}`)]).toEqual([
        query,
        disposition,
        disposition,
      ]);
      expect(await dispositionOf(`${saved}${query}`)).toBe('attachment');
    }
  });
});

describe('text without a charset', () => {
  test.each([
    ['text/plain', 'text/plain; charset=utf-8'],
    [null, 'text/plain; charset=utf-8'],
    ['text/csv; header=present', 'text/csv; header=present; charset=utf-8'],
    ['text/x; a="; charset=x"', 'text/x; a="; charset=x"; charset=utf-8'],
    ['text/plain; Charset=iso-8859-1', 'text/plain; Charset=iso-8859-1'],
    ['application/json', 'application/json'],
  ])(
    'UTF-8 sent as %s goes out as %s, and stays as it was sent where it is told of',
    async (type, served) => {
      const { public_id, mime_type } = await send('Grüße', type, 'a.txt');
      expect(mime_type).toBe(type ?? 'text/plain');
      const id = String(public_id);
      const seen = async (method: string, headers: Record<string, string> = {}) => {
        const answer = await app.call(method, `/api/v1/objects/${id}`, { key, headers });
        return [answer.status, answer.headers.get('content-type')];
      };
      expect(await seen('GET')).toEqual([200, served]);
      expect(await seen('HEAD')).toEqual([200, served]);
      expect(await seen('GET', { Range: 'bytes=0-1' })).toEqual([206, served]);
      const link = await app.call('POST', `/api/v1/objects/${id}/links`, {
        key,
        body: { expires_in_seconds: 60 },
      });
      const followed = await app.call('GET', new URL(String(link.body.url)).pathname);
      expect(followed.headers.get('content-type')).toBe(served);
      const { body } = await app.call('GET', '/api/v1/objects?per_page=1', { key });
      expect(body.data).toEqual([expect.objectContaining({ public_id: id, mime_type })]);
    },
  );

  test('what is ASCII, or no UTF-8, goes out as it was sent', async () => {
    for (const content of ['plain', Buffer.from('Grüße', 'latin1'), Buffer.from('\ufeffa', 'utf16le')]) {
      const { public_id } = await send(content, 'text/plain', 'a.txt');
      const answer = await app.call('GET', `/api/v1/objects/${public_id}`, { key });
      expect(answer.headers.get('content-type')).toBe('text/plain');
    }
  });
});
