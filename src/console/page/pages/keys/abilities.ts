/** The abilities of a key, in the words of the command line. */
import type { ApiKey, NewApiKey } from '../../api.generated.ts';

type Permissions = Pick<
  ApiKey,
  'can_read' | 'can_write' | 'can_send_emails' | 'can_manage_email_marketing' | 'permissions'
>;

export const ABILITIES = {
  read: ['Read', 'List and download files; read mails, templates, schedules and jobs.'],
  write: ['Write', 'Add, change and delete files; write templates and schedules.'],
  no_delete: ['No deleting', 'With Write: files are added and changed, and none is deleted.'],
  upload: ['Upload only', 'Add files and nothing else: what a web page may hold.'],
  email: ['Send email', 'Send mail with a body of its own.'],
  email_template: ['Send templates', 'Send mail from saved templates.'],
  marketing: ['Email marketing', 'Lists, contacts, imports and sequences.'],
  captcha: ['Captcha', "Check a visitor's captcha."],
} as const satisfies Record<string, readonly [label: string, hint: string]>;

export type Ability = keyof typeof ABILITIES;

export function abilitiesOf(key: Permissions): Ability[] {
  const has: Record<Ability, boolean> = {
    read: key.can_read,
    write: key.can_write,
    no_delete: key.permissions.delete === false,
    upload: key.permissions.upload === true,
    email: key.can_send_emails,
    email_template: key.permissions.email_template === true,
    marketing: key.can_manage_email_marketing,
    captcha: key.permissions.captcha === true,
  };
  return Object.entries(has).flatMap(([ability, is_given]) => (is_given ? [ability as Ability] : []));
}

/** The fields of the API that give these abilities; further permissions stay as they are. */
export function permissionsOf(
  abilities: readonly string[],
  kept: Readonly<Record<string, boolean>> = {},
): Required<
  Pick<NewApiKey, 'can_read' | 'can_write' | 'can_send_emails' | 'can_manage_email_marketing' | 'permissions'>
> {
  const has = (ability: Ability): boolean => abilities.includes(ability);
  const permissions = { ...kept };
  for (const name of ['upload', 'email_template', 'captcha'] as const) {
    if (has(name)) permissions[name] = true;
    else delete permissions[name];
  }
  if (has('no_delete')) permissions.delete = false;
  else delete permissions.delete;
  return {
    can_read: has('read'),
    can_write: has('write'),
    can_send_emails: has('email'),
    can_manage_email_marketing: has('marketing'),
    permissions,
  };
}
