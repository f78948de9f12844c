/** The address of an inbox: what it may be, and what of it shows. */
import { expect, test } from 'bun:test';
import { parseInbox } from '../../../src/mail/inboxes/service.ts';

test('scheme, port and folder', () => {
  expect(parseInbox('imaps://ann%40example.com:p%3Aw@imap.example.com')).toEqual({
    host: 'imap.example.com',
    port: 993,
    security: 'tls',
    username: 'ann@example.com',
    password: 'p:w',
    folder: 'INBOX',
  });
  expect(parseInbox('imap://u:p@imap.example.com:1143/Bounces/In%20box/')).toMatchObject({
    port: 1143,
    security: 'starttls',
    folder: 'Bounces/In box',
  });
  for (const host of ['localhost', '127.0.0.1', '[::1]'])
    expect(parseInbox(`imap://u:p@${host}`)).toMatchObject({ port: 143, security: 'none' });
});

test('what is none is refused, and nothing of it is repeated', () => {
  const wrong = [
    'smtp://u:sesame@mail.example.com',
    'imap://mail.example.com',
    'imaps://u@mail.example.com',
    'imaps://:sesame@mail.example.com',
    'imaps://u:sesame@mail.example.com:0',
    'imaps://u:sesame@mail.example.com?x=sesame',
    'imaps://u:%zz-sesame@mail.example.com',
    'imaps://u:sesame%0D%0A@mail.example.com',
    ...['169.254.1.1', '[fe80::1]', '[::ffff:169.254.1.1]', '2852039166'].map(
      (host) => `imaps://u:sesame@${host}`,
    ),
    'sesame',
  ];
  for (const text of wrong) {
    let refusal: unknown;
    try {
      parseInbox(text);
    } catch (error) {
      refusal = error;
    }
    expect(refusal).toMatchObject({ kind: 'invalid' });
    expect(JSON.stringify(refusal) + String(refusal)).not.toContain('sesame');
  }
});
