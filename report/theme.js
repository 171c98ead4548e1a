// The choice between light and dark.

// The theme follows the system until the reader chooses one. Only this page remembers the choice.
export const theme = {
  button: document.getElementById('theme'),
  dark() {
    const set = document.documentElement.dataset.theme;
    return set ? set === 'dark' : matchMedia('(prefers-color-scheme: dark)').matches;
  },
  label() {
    this.button.textContent = this.dark() ? '☀ light' : '☾ dark';
  },
  start() {
    this.label();
    this.button.addEventListener('click', () => {
      document.documentElement.dataset.theme = this.dark() ? 'light' : 'dark';
      this.label();
    });
    matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () => this.label());
  },
};
