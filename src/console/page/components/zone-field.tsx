/** A time zone: typed, and found by any part of its name. */
import type { FieldProps } from './field.tsx';
import { TextField } from './text-field.tsx';

export function ZoneField(props: FieldProps & { value: string; onInput?: (value: string) => void }) {
  return (
    <TextField
      {...props}
      hint="Type a part of its name, such as a city."
      list={[...new Set(['UTC', ...Intl.supportedValuesOf('timeZone')])]}
    />
  );
}

/** Of whoever looks. */
export function ownZone(): string {
  return Intl.DateTimeFormat().resolvedOptions().timeZone;
}
