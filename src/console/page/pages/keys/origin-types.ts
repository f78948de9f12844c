/** Kinds of origins, as they are shown, and what must be known of some. */
import type { Origin } from '../../api.generated.ts';
import { toast } from '../../components/toast.tsx';

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
