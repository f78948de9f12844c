/** A sentence of the API, whose moments are told in the reader's own zone. */
import { Time } from './time.tsx';

export function WithTimes({ text }: { text: string }) {
  const parts = text.split(/(\d{4}-\d\d-\d\dT[\d:.]+Z)/);
  return <>{parts.map((part, index) => (index % 2 === 1 ? <Time at={part} exact /> : part))}</>;
}
