/** Lines that try a key in a shell: they go to where this page came from. */
import { person } from '../../session.ts';
import { type Ability, abilitiesOf } from './abilities.ts';

const sendKey = (key: string): string => `-H 'X-API-Key: ${key}'`;

export function curlThatStores(key: string): string {
  return `echo Hello | curl ${location.origin}/api/v1/objects ${sendKey(key)} -F 'file=@-;filename=hello.txt'`;
}

/** To whoever is signed in. */
export function curlThatSends(key: string): string {
  const mail = { to: person.value?.email ?? '', subject: 'Hello', body_text: 'It works.' };
  // A quote would end the shell's.
  const json = JSON.stringify(mail).replaceAll("'", '\\u0027');
  return `curl ${location.origin}/api/v1/emails/send ${sendKey(key)} -H 'Content-Type: application/json' -d '${json}'`;
}

function curlThatLists(key: string): string {
  return `curl ${location.origin}/api/v1/objects ${sendKey(key)}`;
}

const LINES: readonly (readonly [needs: Ability, line: (key: string) => string])[] = [
  ['write', curlThatStores],
  ['upload', curlThatStores],
  ['email', curlThatSends],
  ['read', curlThatLists],
];

/** What the key may do first of these; null where it may none, or only from places that no shell is. */
export function curlThatTries(
  key: Parameters<typeof abilitiesOf>[0] & { restricted: boolean; plaintext_key: string },
): string | null {
  const abilities = abilitiesOf(key);
  const line = key.restricted ? undefined : LINES.find(([needs]) => abilities.includes(needs))?.[1];
  return line?.(key.plaintext_key) ?? null;
}
