/** What keeps marketing mail from going out, in the words of the console: the API's are for those who write JSON or commands. */

export const LACKS = {
  marketing_disabled: 'Marketing is not enabled.',
  no_from_name: 'There is no from name.',
  no_postal_address: 'There is no postal address.',
  no_template: 'There is no mail yet.',
  unwritten: 'The mail still says “Write here what the mail is about.”',
} as const;

/** Where a command of the shell begins, instead of which the console has a link. */
const COMMAND = /(?::| See:| Try it [^:]*:) satchel .*$/;

/** A problem of a check, without what one would type. */
export function tellLack({ code, message }: { code: string; message: string }): string {
  if (Object.hasOwn(LACKS, code)) return LACKS[code as keyof typeof LACKS];
  // A name in brackets is the field's in the API.
  const told = message.replace(COMMAND, '').replace(/ \([a-z_]+\)/, '');
  return /[.!?]$/.test(told) ? told : `${told}.`;
}
