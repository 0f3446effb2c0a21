// Preloaded into servers that would listen on all addresses. It makes them listen
// on the loopback only and print the address.
const { Server } = require("node:net");

const listen = Server.prototype.listen;
Server.prototype.listen = function (first, ...rest) {
  const port = typeof first === "object" && first !== null ? first.port : first;
  const done = rest.find((value) => typeof value === "function");
  this.once("listening", () => console.error(`listening on 127.0.0.1:${this.address().port}`));
  return listen.call(this, { port: Number(port), host: "127.0.0.1" }, ...(done ? [done] : []));
};
