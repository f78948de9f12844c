/** The fields of a database account, for adding one and for changing it. */
import type { DatabaseAccount } from '../../api.generated.ts';
import { SecretField } from '../../components/secret-field.tsx';
import { TextField } from '../../components/text-field.tsx';

/** The beginning of a day, UTC; null for none. */
export function momentOf(day: string): string | null {
  return day === '' ? null : `${day}T00:00:00Z`;
}

export function DatabaseAccountFields({ of }: { of?: DatabaseAccount }) {
  return (
    <>
      <TextField name="name" label="Name" value={of?.name} is_focused={!of} />
      <TextField name="provider" label="Provider" value={of?.provider} placeholder="supabase" />
      <TextField name="organization_slug" label="Organization" value={of?.organization_slug} />
      <SecretField
        name="access_token"
        label="Access token"
        placeholder={of ? 'stored; left empty, it stays' : ''}
      />
      <TextField
        name="expires_at"
        label="The token expires on"
        type="date"
        value={of?.expires_at?.slice(0, 10)}
        hint="The day begins at midnight UTC. Empty: it does not."
      />
    </>
  );
}
