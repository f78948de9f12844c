/** What an origin is, in a form: of a key's own, and of those that every restricted key accepts. */
import { useState } from 'preact/hooks';
import type { Origin } from '../../api.generated.ts';
import type { Entered } from '../../components/form.tsx';
import { SelectField } from '../../components/select-field.tsx';
import { TextField } from '../../components/text-field.tsx';
import { ORIGIN_TYPES } from './origin-types.ts';

const typeOf = (value: string): Origin['type'] =>
  ORIGIN_TYPES.find(([each]) => each === value)?.[0] ?? 'domain';

/** `hint`: of the value of each kind, or of a web site's alone. */
export function OriginFields(props: { address: string; hint: string; is_hint_of_all?: boolean }) {
  const { address, hint, is_hint_of_all } = props;
  const [type, setType] = useState<Origin['type']>('domain');
  return (
    <>
      <SelectField
        name="type"
        label="Kind"
        choices={ORIGIN_TYPES}
        value={type}
        onChange={(value) => setType(typeOf(value))}
      />
      <TextField
        name="value"
        label={type === 'domain' ? 'Origin' : 'App id'}
        placeholder={type === 'domain' ? address : 'com.example.shop'}
        hint={type === 'domain' || is_hint_of_all ? hint : undefined}
        is_focused
        is_mono
      />
      {type === 'android' && (
        <TextField
          name="sha256_fingerprints"
          label="Certificates"
          hint="SHA-256 fingerprints of the certificates that the app may be signed with, separated by commas. Empty: any."
          is_mono
        />
      )}
    </>
  );
}

export function originIn(entered: Entered) {
  const sha256_fingerprints = entered.words('sha256_fingerprints');
  return {
    type: typeOf(entered.text('type')),
    value: entered.text('value'),
    ...(sha256_fingerprints.length > 0 && { sha256_fingerprints }),
  };
}
