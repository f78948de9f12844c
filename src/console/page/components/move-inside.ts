/** Arrows go from a field to what was found below it, from one to the next, and back. */
export function moveInside(event: KeyboardEvent & { currentTarget: HTMLElement }): void {
  const stops = [...event.currentTarget.querySelectorAll<HTMLElement>('input, a, button')];
  const step = event.key === 'ArrowDown' ? 1 : event.key === 'ArrowUp' ? -1 : 0;
  const next = stops[stops.indexOf(document.activeElement as HTMLElement) + step];
  if (step === 0 || !next) return;
  event.preventDefault();
  next.focus();
}
