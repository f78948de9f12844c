/** What the API said of a part of a form as a whole; what it said of a field in it stands at the field. */
import { useFieldErrors } from '../../components/form.tsx';

export function Said({ name }: { name: string }) {
  const told = useFieldErrors(name, { is_exact: true });
  return told.length === 0 ? null : <p class="wrong">{told.join(' ')}</p>;
}
