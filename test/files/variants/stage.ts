/** An app with images in it, and what is asked of them. */
import { expect } from 'bun:test';
import { look } from '../../support/images.ts';
import { dataOf, startManagement } from '../../support/management.ts';

export async function startVariants() {
  const on = await startManagement();
  const { app } = on;
  const tester = { kind: 'shell', id: '0', name: 'tester', ip: null } as const;
  const key = (await app.services.keys.create(tester, on.mine, { name: 'k', can_read: true })).plaintext_key;

  async function upload(
    bytes: Uint8Array,
    name = 'photo.png',
    fields: Record<string, string> = {},
  ): Promise<string> {
    const form = new FormData();
    for (const [field, value] of Object.entries(fields)) form.set(field, value);
    form.set('file', new Blob([Buffer.from(bytes)], { type: 'application/x-claimed' }), name);
    return String(dataOf(await on.call('POST', '/projects/mine/objects', on.all, form)).public_id);
  }

  async function ask(path: string, headers: Record<string, string> = { 'X-API-Key': key }, method = 'GET') {
    const response = await app.app.handle(new Request(`http://satchel.test${path}`, { method, headers }));
    return { status: response.status, headers: response.headers, bytes: await response.bytes() };
  }
  const of = (id: string, query: string, headers?: Record<string, string>, method?: string) =>
    ask(`/api/v1/objects/${id}?${query}`, headers, method);
  const errorsOf = async (id: string, query: string) => {
    const { status, body } = await app.call('GET', `/api/v1/objects/${id}?${query}`, { key });
    expect(status).toBe(422);
    return body.errors;
  };
  const shape = async (id: string, query: string) => {
    const { status, headers, bytes } = await of(id, query);
    expect([status, status === 200 ? '' : new TextDecoder().decode(bytes)]).toEqual([200, '']);
    const { format, width, height } = await look(bytes);
    expect(headers.get('content-type')).toBe(`image/${format}`);
    return `${format} ${width}x${height}`;
  };
  return { on, app, key, upload, ask, of, errorsOf, shape };
}
