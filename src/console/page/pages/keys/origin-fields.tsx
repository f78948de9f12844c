/** Fields of an origin: of a key's own, and of those that every restricted key accepts. */
import { useState } from 'preact/hooks';
import type { Origin } from '../../api.generated.ts';
import { SelectField } from '../../components/fields.tsx';
import type { Entered } from '../../components/form.tsx';
import { TextField } from '../../components/text-field.tsx';
import { toast } from '../../components/toast.tsx';

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

/** Kinds of origins, as they are shown, and what must be known of some. */
export const ORIGIN_TYPES: readonly (readonly [Origin['type'], string])[] = [
  ['domain', 'Web site'],
  ['android', 'Android app'],
  ['ios', 'iOS app'],
];

const TOOLS: Readonly<Record<string, string>> = {
  capacitor: 'Capacitor',
  ionic: 'Ionic',
  tauri: 'Tauri',
  app: 'Electron',
};

/** Says of an origin that was added what its value alone does not tell: that it is not one app's. */
export function tellOfOrigin(value: string): void {
  const tool = TOOLS[value.slice(0, value.indexOf(':'))];
  if (tool !== undefined)
    toast(
      `Every app that is made with ${tool} may send ${value}: it keeps web pages out, and no such app.`,
      'warn',
    );
}
