/** A file to be chosen. */
import { Field, type FieldProps } from './field.tsx';

export function FileField(props: FieldProps & { accept?: string }) {
  return (
    <Field {...props}>{(ties) => <input {...ties} class="input" type="file" accept={props.accept} />}</Field>
  );
}
