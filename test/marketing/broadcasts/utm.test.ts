/** The field `utm` of broadcasts and sequences: what it takes, and that it reaches the links of what is sent. */
import { beforeAll, describe, expect, test } from 'bun:test';
import { BROWSER } from '../mails/setup.ts';
import { type BroadcastApp, dataOf, rowsOf, startBroadcastApp } from './setup.ts';

describe('the field', () => {
  let on: BroadcastApp;
  let list: string;
  beforeAll(async () => {
    on = await startBroadcastApp();
    await on.template('linking', { body_html: null, body_text: 'https://shop.example.com/a' });
    list = await on.list();
  });
  const utm = { source: 'news', medium: 'email', campaign: 'Spring Sale', content: 'top' };

  test('is kept by a broadcast and its copy, and cleared by null', async () => {
    const made = dataOf(
      await on.call('POST', '/email-broadcasts', { name: 'B', list, template: 'linking', utm }),
      201,
    );
    expect(made.utm).toEqual(utm);
    const copied = dataOf(await on.call('POST', `/email-broadcasts/${made.id}/copy`), 201);
    expect(copied.utm).toEqual(utm);
    const at = `/email-broadcasts/${made.id}`;
    expect(dataOf(await on.call('PATCH', at, { utm: { source: 'x' } })).utm).toEqual({ source: 'x' });
    expect(dataOf(await on.call('PATCH', at, { name: 'C' })).utm).toEqual({ source: 'x' });
    expect(dataOf(await on.call('PATCH', at, { utm: null })).utm).toBeNull();
    await on.contact(list, 'bea@example.com');
    const id = String(copied.id);
    await on.send(id);
    const sent = await on.show(id);
    expect(sent.links).toEqual([{ url: 'https://shop.example.com/a', people: 0, clicks: 0 }]);
    const { body } = await on.app.call('GET', '/api/v1/emails?to=bea@example.com', { key: on.key });
    const [mail] = body.data as { id: string }[];
    const { raw } = await on.app.services.deliveries.readCaptured(mail?.id ?? '');
    const path = /\/c\/[0-9a-z-]+/.exec(raw.replace(/=\r\n/g, ''))?.[0] ?? '';
    const followed = await on.app.call('GET', path, { headers: { 'User-Agent': BROWSER } });
    expect(followed.headers.get('location')).toBe(
      'https://shop.example.com/a?utm_source=news&utm_medium=email&utm_campaign=Spring%20Sale&utm_content=top',
    );
  });

  test('is kept by a sequence, and changes while it runs', async () => {
    const steps = [{ key: 'a', template: 'linking', delay_hours: 0, is_final: true }];
    const made = dataOf(
      await on.call('POST', '/email-sequences', {
        ...{ name: 'S', list, max_recipients: 10, steps, utm },
      }),
      201,
    );
    expect(made.utm).toEqual(utm);
    const path = `/email-sequences/${made.id}`;
    dataOf(await on.call('POST', `${path}/activate`));
    expect(dataOf(await on.call('PATCH', path, { utm: { medium: 'm' } })).utm).toEqual({ medium: 'm' });
    expect(rowsOf(await on.call('GET', '/email-sequences'))[0]?.utm).toEqual({ medium: 'm' });
  });

  test('takes nothing empty, misspelt, too long or no text', async () => {
    const refused = async (sent: unknown): Promise<unknown> => {
      const answer = await on.call('POST', '/email-broadcasts', { name: 'B', list, utm: sent });
      return [answer.status, answer.body.errors];
    };
    expect(await refused({})).toEqual([422, { utm: ['must not be empty'] }]);
    expect(await refused({ sorce: 'a' })).toEqual([
      422,
      { 'utm.sorce': ['is unknown here: there are source, medium, campaign, content'] },
    ]);
    for (const bad of [{ source: '' }, { source: null }, { source: 1 }, { source: 'x'.repeat(300) }])
      expect([bad, await refused(bad)]).toEqual([bad, [422, { 'utm.source': [expect.any(String)] }]]);
    expect(await refused('news')).toEqual([422, { utm: [expect.any(String)] }]);
  });
});
