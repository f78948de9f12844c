/** From the system's colours to light, to dark, and back. */
import { chooseTheme, type Theme, theme } from '../theme.ts';
import { Icon } from './icon.tsx';

const NEXT: Readonly<Record<Theme, Theme>> = { system: 'light', light: 'dark', dark: 'system' };
const ICONS = { system: 'screen', light: 'sun', dark: 'moon' } as const;
const NAMES = { system: "the system's", light: 'light', dark: 'dark' } as const;

export function ThemeToggle() {
  const now = theme.value;
  const label = `Colours: ${NAMES[now]}. Change to ${NAMES[NEXT[now]]}`;
  return (
    <button
      type="button"
      class="button quiet square"
      aria-label={label}
      title={label}
      onClick={() => chooseTheme(NEXT[now])}
    >
      <Icon name={ICONS[now]} size={18} />
    </button>
  );
}
