/** What a reply says without what it quotes: as three mail programs write it, in six languages. */
import { describe, expect, test } from 'bun:test';
import { withoutQuoted } from '../../../src/platform/mail/reply-text.ts';

const ANSWER = 'Yes, Tuesday at 10:30 suits me.\n\nThanks\nBob';
const QUOTED = ['Hello Bob,', '', 'does Tuesday suit you?', 'See https://shop.example.com: we open at 9.'];
const marked = QUOTED.map((line) => `> ${line}`.trimEnd()).join('\n');

/** The words above a quotation by Gmail and Apple Mail, and the header by Outlook. */
const PROGRAMS: Record<string, { gmail: string; apple: string; rule: string; outlook: string }> = {
  English: {
    gmail: 'On Mon, Nov 23, 2026 at 3:04 PM Ann Example <ann@shop.example.com>\nwrote:',
    apple: 'On 23 Nov 2026, at 15:04, Ann Example <ann@shop.example.com> wrote:',
    rule: '-----Original Message-----',
    outlook:
      'From: Ann Example <ann@shop.example.com>\nSent: Monday, November 23, 2026 3:04 PM\nTo: Bob <bob@example.org>\nSubject: Tuesday',
  },
  German: {
    gmail: 'Am Mo., 23. Nov. 2026 um 15:04 Uhr schrieb Ann Example <\nann@shop.example.com>:',
    apple: 'Am 23.11.2026 um 15:04 schrieb Ann Example <ann@shop.example.com>:',
    rule: '-----Ursprüngliche Nachricht-----',
    outlook:
      'Von: Ann Example <ann@shop.example.com>\nGesendet: Montag, 23. November 2026 15:04\nAn: Bob <bob@example.org>\nBetreff: Dienstag',
  },
  French: {
    gmail: 'Le lun. 23 nov. 2026 à 15:04, Ann Example <ann@shop.example.com> a\nécrit :',
    apple: 'Le 23 nov. 2026 à 15:04, Ann Example <ann@shop.example.com> a écrit :',
    rule: "-----Message d'origine-----",
    outlook:
      'De : Ann Example <ann@shop.example.com>\nEnvoyé : lundi 23 novembre 2026 15:04\nÀ : Bob <bob@example.org>\nObjet : mardi',
  },
  Spanish: {
    gmail: 'El lun, 23 nov 2026 a las 15:04, Ann Example (<ann@shop.example.com>)\nescribió:',
    apple: 'El 23 nov 2026, a las 15:04, Ann Example <ann@shop.example.com> escribió:',
    rule: '-----Mensaje original-----',
    outlook:
      'De: Ann Example <ann@shop.example.com>\nEnviado: lunes, 23 de noviembre de 2026 15:04\nPara: Bob <bob@example.org>\nAsunto: martes',
  },
  Italian: {
    gmail: 'Il giorno lun 23 nov 2026 alle ore 15:04 Ann Example <\nann@shop.example.com> ha scritto:',
    apple: 'Il giorno 23 nov 2026, alle ore 15:04, Ann Example <ann@shop.example.com> ha scritto:',
    rule: '-----Messaggio originale-----',
    outlook:
      'Da: Ann Example <ann@shop.example.com>\nInviato: lunedì 23 novembre 2026 15:04\nA: Bob <bob@example.org>\nOggetto: martedì',
  },
  Portuguese: {
    gmail: 'Em seg., 23 de nov. de 2026 às 15:04, Ann Example <ann@shop.example.com>\nescreveu:',
    apple: 'No dia 23/11/2026, às 15:04, Ann Example <ann@shop.example.com> escreveu:',
    rule: '-----Mensagem original-----',
    outlook:
      'De: Ann Example <ann@shop.example.com>\nEnviado: segunda-feira, 23 de novembro de 2026 15:04\nPara: Bob <bob@example.org>\nAssunto: terça',
  },
};

describe.each(Object.entries(PROGRAMS))('a reply in %s', (_, { gmail, apple, rule, outlook }) => {
  const quoted = QUOTED.join('\n');
  const threads: Record<string, string> = {
    'of Gmail': `${ANSWER}\n\n${gmail}\n\n${marked}\n`,
    'of Gmail, in a thread': `${ANSWER}\n\n${gmail}\n\n> Fine.\n>\n> ${apple}\n>\n>> Hello\n`,
    'of Apple Mail': `${ANSWER}\n\n${apple}\n\n${marked}\n`,
    'of Apple Mail, between the quoted lines': `${apple}\n\n> Hello Bob,\n\n> does Tuesday suit you?\n${ANSWER}\n`,
    'of Outlook on the desktop': `${ANSWER}\r\n\r\n${rule}\r\n${outlook}\r\n\r\n${quoted}\r\n`,
    'of Outlook in a browser': `${ANSWER}\n\n________________________________\n${outlook}\n\n${quoted}`,
    'of Outlook, without a rule': `${ANSWER}\n\n${outlook.replaceAll(/^(\S+?) ?:/gm, '*$1:*')}\n\n${quoted}`,
    'of a program that marks nothing': `${ANSWER}\n\n${apple}\n\n${quoted}\n`,
  };
  test.each(Object.entries(threads))('%s', (_name, text) => {
    expect(withoutQuoted(text)).toBe(ANSWER);
  });
});

test('what looks like a quotation and is none stays', () => {
  const own = [
    'From: what I saw, it works.',
    'Two things:\n\n1. it is 10:30\n2. it is late',
    'On 3 May I wrote:\nnothing comes of it',
    'De: rien',
    '--\nBob\nTel: 030 1234\nWeb: shop.example.com',
    'a > b, and b >= c',
  ];
  for (const text of own) expect(withoutQuoted(text)).toBe(text);
  expect(withoutQuoted('')).toBe('');
  expect(withoutQuoted('> all of it\n> is quoted')).toBe('');
});

test('a text takes one pass, whatever it holds', () => {
  const began = performance.now();
  for (const piece of [
    '>\n',
    'From: a@b\n',
    'a:\n>\n',
    'x',
    '-'.repeat(50),
    'On 1\n',
    ':',
    `${'_'.repeat(12)}\n`,
    ' ',
  ])
    withoutQuoted(piece.repeat(Math.ceil(262_144 / piece.length)));
  expect(performance.now() - began).toBeLessThan(5_000);
});
