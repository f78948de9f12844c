/** Says that the server does not answer; it goes away by itself once it does. */
export function Banner() {
  return (
    <div class="banner" role="alert">
      Satchel does not answer. What is shown may be old; trying again every two seconds.
    </div>
  );
}
