/** Shows what is typed into the secret field beside it, or hides it again. */
import { Icon } from './icon.tsx';

export function Eye({ is_open, onChange }: { is_open: boolean; onChange(is_open: boolean): void }) {
  return (
    <button
      type="button"
      class="button quiet square"
      aria-pressed={is_open}
      aria-label="Show what is typed"
      onClick={(event) => {
        // Looking changes nothing of the form.
        event.stopPropagation();
        onChange(!is_open);
      }}
    >
      <Icon name={is_open ? 'eye_off' : 'eye'} />
    </button>
  );
}
