/** Short notices of what was done, which go by themselves; what failed, and what is to be known of it, stays until it is closed. */
import { signal } from '@preact/signals';
import { Icon } from './icon.tsx';

interface Notice {
  id: number;
  text: string;
  tone: 'good' | 'warn' | 'bad';
}

const SHOWN_MS = 5000;
const notices = signal<readonly Notice[]>([]);
let last_id = 0;

function dismiss(id: number): void {
  notices.value = notices.value.filter((notice) => notice.id !== id);
}

export function toast(text: string, tone: Notice['tone'] = 'good'): void {
  last_id += 1;
  const id = last_id;
  notices.value = [...notices.value, { id, text, tone }];
  if (tone === 'good') setTimeout(() => dismiss(id), SHOWN_MS);
}

export function Toasts() {
  return (
    <div class="toasts" role="status" aria-live="polite">
      {notices.value.map(({ id, text, tone }) => (
        <div key={id} class={`toast ${tone}`}>
          <Icon name={tone === 'good' ? 'check' : 'warning'} />
          <span>{text}</span>
          <button
            type="button"
            class="button quiet square"
            aria-label="Close this notice"
            onClick={() => dismiss(id)}
          >
            <Icon name="close" />
          </button>
        </div>
      ))}
    </div>
  );
}
