/** The fields of a database. */
import type { DatabaseAccount, DatabaseProject } from '../../api.generated.ts';
import { SecretField } from '../../components/secret-field.tsx';
import { SelectField } from '../../components/select-field.tsx';
import { TextField } from '../../components/text-field.tsx';

export const SECRETS = [
  ['secret_key', 'Secret key'],
  ['db_password', 'Password'],
  ['connection_string', 'Connection string'],
] as const;
export type SecretName = (typeof SECRETS)[number][0];

export const POOL_MODES = ['transaction', 'session'] as const;

export function DatabaseFields(props: { of: DatabaseProject; accounts: readonly DatabaseAccount[] }) {
  const { of, accounts } = props;
  return (
    <>
      <TextField name="name" label="Name" value={of.name} />
      <TextField name="ref" label="Reference" value={of.ref} hint="What the provider calls it." is_mono />
      <SelectField
        name="account_id"
        label="Account"
        value={String(of.account_id ?? '')}
        choices={[['', 'none'], ...accounts.map(({ id, name }) => [String(id), name] as const)]}
      />
      <TextField name="region" label="Region" value={of.region} placeholder="eu-central-1" />
      <TextField name="status" label="Status" value={of.status} placeholder="active" />
      <TextField name="api_url" label="API URL" value={of.api_url} placeholder="https://…" />
      <TextField name="publishable_key" label="Publishable key" value={of.publishable_key} is_mono />
      <TextField name="db_host" label="Host" value={of.db_host} is_mono />
      <TextField name="db_port" label="Port" type="number" value={of.db_port} />
      <TextField name="db_name" label="Database" value={of.db_name} is_mono />
      <TextField name="db_user" label="User" value={of.db_user} is_mono />
      <SelectField
        name="pool_mode"
        label="Pool mode"
        value={of.pool_mode ?? ''}
        choices={[['', 'not said'], ...POOL_MODES.map((mode) => [mode, mode] as const)]}
      />
      {SECRETS.map(([name, label]) => (
        <SecretField key={name} name={name} label={label} placeholder="left empty, it stays as it is" />
      ))}
    </>
  );
}
