/** The audit trail in sentences: what each action is called. `{name}` is what it was done to. */
import type { AuditRow } from '../../platform/database/audit-trail.ts';
import type { Changes } from '../../platform/database/schemas.ts';

const MAX_SENTENCE_CHARS = 300;

/** What follows the name of who did it; every action that is put on the trail stands here. */
export const SENTENCES: Readonly<Record<string, string>> = {
  'ai_account.assigned': 'assigned the AI account {name} to projects',
  'ai_account.created': 'added the AI account {name}',
  'ai_account.deleted': 'deleted the AI account {name}',
  'ai_account.revealed': 'looked at the key of the AI account {name}',
  'ai_account.updated': 'changed the AI account {name}',
  'alerts.changed': 'changed whom doctor tells',
  'alerts.tested': 'had alerts tested',
  'api_key.created': 'made the key {name}',
  'api_key.deleted': 'deleted the key {name}',
  'api_key.origin_added': 'added an origin to the key {name}',
  'api_key.origin_removed': 'removed an origin from the key {name}',
  'api_key.origin_updated': 'changed an origin of the key {name}',
  'api_key.revealed': 'looked at the secret of the key {name}',
  'api_key.rotated': 'gave the key {name} a new secret',
  'api_key.updated': 'changed the key {name}',
  'backup.deleted': 'deleted the backup {name}',
  'backup.downloaded': 'downloaded the backup {name}',
  'backup.scheduled': 'changed when backups are made',
  'backup.started': 'started the backup {name}',
  'broadcast.cancelled': 'cancelled the broadcast {name}',
  'broadcast.changed': 'changed the broadcast {name}',
  'broadcast.created': 'made the broadcast {name}',
  'broadcast.decided': 'decided the A/B of the broadcast {name}',
  'broadcast.deleted': 'deleted the broadcast {name}',
  'broadcast.paused': 'paused the broadcast {name}',
  'broadcast.resumed': 'resumed the broadcast {name}',
  'broadcast.scheduled': 'scheduled the broadcast {name}',
  'broadcast.sent': 'sent the broadcast {name}',
  'contact.added': 'added the contact {name}',
  'contact.changed': 'changed the contact {name}',
  'contact.forgotten': 'had everything about an address forgotten',
  'contact.unsubscribed': 'unsubscribed the contact {name}',
  'contacts.exported': 'exported contacts of the list {name}',
  'contacts.tagged': 'changed tags of contacts of the list {name}',
  'database_account.created': 'added the database account {name}',
  'database_account.deleted': 'deleted the database account {name}',
  'database_account.revealed': 'looked at the access token of the database account {name}',
  'database_account.updated': 'changed the database account {name}',
  'database_project.created': 'added the database project {name}',
  'database_project.deleted': 'deleted the database project {name}',
  'database_project.revealed': 'looked at the secrets of the database project {name}',
  'database_project.updated': 'changed the database project {name}',
  'email.accepted': 'sent the email {name}',
  'email.canceled': 'called the scheduled email {name} off',
  'email.reported': 'told what became of the email {name}',
  'email.retried': 'had the email {name} tried again',
  'emails.exported': 'exported the mail log',
  'global_origin.added': 'added a global origin',
  'global_origin.removed': 'removed a global origin',
  'import.cancelled': 'cancelled an import into the list {name}',
  'import.resumed': 'resumed an import into the list {name}',
  'import.started': 'started an import into the list {name}',
  'list.changed': 'changed the list {name}',
  'list.created': 'made the list {name}',
  'mailbox.added': 'added the mailbox {name}',
  'mailbox.changed': 'changed the mailbox {name}',
  'mailbox.checked': 'tried the relay of the mailbox {name}',
  'mailbox.events_rotated': 'gave the relay events of the mailbox {name} another address',
  'mailbox.paused': 'paused the mailbox {name}',
  'mailbox.removed': 'removed the mailbox {name}',
  'mailbox.resumed': 'resumed the mailbox {name}',
  'marketing_settings.changed': 'changed the marketing settings',
  'master_key.rotated': 'replaced the master key',
  'object.changed': 'changed the file {name}',
  'object.deleted': 'deleted the file {name}',
  'object.uploaded': 'uploaded the file {name}',
  'object_link.created': 'made a link to the file {name}',
  'object_links.revoked': 'revoked every link to files',
  'objects.moved': 'moved stored files',
  'person.created': 'added {name}',
  'person.invited': 'had a link to set a password mailed to {name}',
  'person.passkey_added': 'added the passkey {name}',
  'person.passkey_removed': 'removed the passkey {name}',
  'person.password_changed': 'changed their password',
  'person.password_set': 'set their password by a link',
  'person.removed': 'removed {name}',
  'person.reset': 'reset the password of {name}',
  'person.session_ended': 'signed out elsewhere',
  'person.sign_in_failed': 'failed to sign in',
  'person.signed_in': 'signed in',
  'person.signed_out': 'signed out',
  'person.sso_linked': 'signed in with an account of single sign-on, theirs from now on',
  'person.totp_ended': 'turned their second step off',
  'person.totp_started': 'turned their second step on',
  'person.updated': 'changed {name}',
  'project.ai_accounts_assigned': 'changed which AI accounts the project has',
  'project.created': 'made the project {name}',
  'project.exported': 'exported the project {name}',
  'project.imported': 'imported the project {name}',
  'project.let_go': 'let the project {name} go on',
  'project.updated': 'changed the project {name}',
  'public_api.project.deleted': 'deleted the project {name}',
  'schedule.changed': 'changed the schedule {name}',
  'schedule.created': 'made the schedule {name}',
  'schedule.deleted': 'deleted the schedule {name}',
  'schedule.run': 'ran the schedule {name}',
  'sending_domain.activated': 'activated the sending domain {name}',
  'sending_domain.added': 'added the sending domain {name}',
  'sending_domain.deactivated': 'deactivated the sending domain {name}',
  'sending_domain.distrusted': 'had the sending domain {name} be checked again',
  'sending_domain.dkim_key_made': 'made a DKIM key for the sending domain {name}',
  'sending_domain.dkim_rotated': 'replaced the DKIM key of the sending domain {name}',
  'sending_domain.made_default': 'made {name} the default sending domain',
  'sending_domain.removed': 'removed the sending domain {name}',
  'sending_domain.trusted': 'trusted the sending domain {name} without a check',
  'sending_domain.unverified': 'found the records of the sending domain {name} gone',
  'sending_domain.verified': 'found the records of the sending domain {name}',
  'segment.changed': 'changed the segment {name}',
  'segment.created': 'made the segment {name}',
  'segment.deleted': 'deleted the segment {name}',
  'sequence.activated': 'activated the sequence {name}',
  'sequence.changed': 'changed the sequence {name}',
  'sequence.created': 'made the sequence {name}',
  'sequence.enrolled': 'enrolled contacts in the sequence {name}',
  'sequence.finished': 'finished the sequence {name}',
  'sequence.paused': 'paused the sequence {name}',
  'sequence.resumed': 'resumed the sequence {name}',
  'suppression.added': 'had an address get no marketing',
  'suppression.lifted': 'had an address get marketing again',
  'template.changed': 'changed the template {name}',
  'template.created': 'made the template {name}',
  'template.deleted': 'deleted the template {name}',
  'token_trust.added': 'added the trust {name}',
  'token_trust.refused': 'refused a token of an issuer for {name}',
  'token_trust.removed': 'removed the trust {name}',
  'token.created': 'made the token {name}',
  'token.revoked': 'revoked the token {name}',
  'vault.deleted': 'removed {name} from the vault',
  'vault.environment_added': 'added the environment {name} to the vault',
  'vault.environment_changed': 'changed the environment {name} of the vault',
  'vault.environment_removed': 'removed the environment {name} of the vault',
  'vault.purged': 'had the vault forget what {name} has held',
  'vault.restored': 'restored a value in the vault',
  'vault.revealed': 'looked into the vault',
  'vault.updated': 'changed the vault',
  'webhook.changed': 'changed the webhook to {name}',
  'webhook.created': 'added a webhook to {name}',
  'webhook.deleted': 'deleted the webhook to {name}',
  'webhook.disabled': 'stopped the webhook to {name}',
  'webhook.replayed': 'had the webhook to {name} told again',
  'webhook.rotated': 'gave the webhook to {name} a new secret',
  'webhook.tested': 'tested the webhook to {name}',
};

/** What it is called where nothing but this field changed: that it is so now, and that it is no more. */
const SWITCHED: Readonly<Record<string, Readonly<Record<string, readonly [on: string, off: string]>>>> = {
  'api_key.updated': {
    is_active: ['activated the key {name}', 'deactivated the key {name}'],
    restricted: ['restricted the key {name} to its origins', 'let the key {name} be used from anywhere'],
  },
  'broadcast.changed': {
    in_archive: ['put {name} into its archive', 'took {name} out of its archive'],
  },
  'list.changed': {
    sign_up_page: ['switched on the sign-up page of {name}', 'switched off the sign-up page of {name}'],
    double_opt_in: ['had sign-ups to {name} confirmed by mail', 'had sign-ups to {name} confirmed no more'],
    archive: ['switched on the archive of {name}', 'switched off the archive of {name}'],
    is_public: ['showed the list {name} among the choices', 'hid the list {name} from the choices'],
    archived_at: ['archived the list {name}', 'restored the list {name}'],
  },
  'marketing_settings.changed': { enabled: ['switched on marketing', 'switched off marketing'] },
  'person.updated': {
    is_active: ['let {name} in again', 'kept {name} out'],
    read_only: ['made {name} read-only', 'let {name} change things'],
  },
  'project.updated': { status: ['activated the project {name}', 'deactivated the project {name}'] },
  'schedule.changed': { is_active: ['switched on the schedule {name}', 'switched off the schedule {name}'] },
  'template.changed': { is_active: ['restored the template {name}', 'archived the template {name}'] },
  'webhook.changed': {
    is_active: ['switched on the webhook to {name}', 'switched off the webhook to {name}'],
  },
};

/** One line: who did what, and which fields changed. Actions of later versions keep their own names. */
export function sentenceOf(
  row: Pick<AuditRow, 'event' | 'actor_name' | 'target' | 'metadata' | 'changes'>,
): string {
  const { event, actor_name, changes } = row;
  // By a function: what somebody named is no pattern of a replacement.
  const sentence = `${actor_name} ${wordsOf(event, changes).replace('{name}', () => nameOf(row))}`.replaceAll(
    /\s+/g,
    ' ',
  );
  return sentence.length > MAX_SENTENCE_CHARS ? `${sentence.slice(0, MAX_SENTENCE_CHARS - 1)}…` : sentence;
}

function wordsOf(event: string, changes: Changes): string {
  const words = SENTENCES[event] ?? `did ${event} of {name}`;
  // What a vault holds has names of its own.
  const is_named = event.startsWith('vault.');
  const fields = Object.keys(changes);
  const told = fields.map((field) => (is_named ? field : field.replaceAll('_', ' ')));
  const [field, ...others] = fields;
  if (field === undefined) return words;
  if (others.length > 0 || is_named || !words.startsWith('changed ')) return `${words}: ${told.join(', ')}`;
  const change = changes[field];
  const [on, off] = SWITCHED[event]?.[field] ?? [];
  if (on === undefined || off === undefined || !change || !('to' in change))
    return words.replace('changed', `changed the ${told[0]} of`);
  return [null, false, 'inactive'].includes(change.to as null) ? off : on;
}

/** The name of the thing that it was done to, else its id. */
function nameOf({ target, metadata }: Pick<AuditRow, 'target' | 'metadata'>): string {
  for (const known of [metadata.name, metadata.email, metadata.host, metadata.service]) {
    if (typeof known === 'string' && known !== '') return known;
  }
  return target?.slice(target.indexOf(':') + 1) ?? 'something';
}
