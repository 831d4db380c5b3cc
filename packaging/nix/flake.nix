# Not run: no Nix was at hand. `nix build ./packaging/nix`
{
  description = "afteryou: background transport that yields to everything else";
  inputs.nixpkgs.url = "github:NixOS/nixpkgs/nixos-unstable";
  outputs = { self, nixpkgs }:
    let
      systems = [ "x86_64-linux" "aarch64-linux" "x86_64-darwin" "aarch64-darwin" ];
      each = make: nixpkgs.lib.genAttrs systems (system: make nixpkgs.legacyPackages.${system});
    in {
      packages = each (pkgs: {
        default = pkgs.rustPlatform.buildRustPackage {
          pname = "afteryou";
          version = "0.1.0";
          src = ../..;
          cargoLock.lockFile = ../../Cargo.lock;
          cargoBuildFlags = [ "--package" "afteryou" ];
          # Tests need sockets, namespaces and an ssh server.
          doCheck = false;
          nativeBuildInputs = [ pkgs.installShellFiles ];
          # The program makes them, so not where it is built for another processor.
          postInstall = pkgs.lib.optionalString (pkgs.stdenv.buildPlatform.canExecute pkgs.stdenv.hostPlatform) ''
            $out/bin/afteryou man --out man
            installManPage man/*.1
            installShellCompletion --cmd afteryou \
              --bash <($out/bin/afteryou completions bash) \
              --fish <($out/bin/afteryou completions fish) \
              --zsh <($out/bin/afteryou completions zsh)
          '';
          meta = {
            description = "Background transport that yields to everything else: files, and experiments";
            license = with pkgs.lib.licenses; [ mit asl20 ];
            mainProgram = "afteryou";
          };
        };
      });
    };
}
